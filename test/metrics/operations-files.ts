import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { grafanaDashboard } from "../../scripts/operations/dashboard.ts";
import { root } from "../docs/markdown.ts";

export const folder: string = join(root, "templates", "operations");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(read("alerts.yml"));
export const rules: readonly Rule[] = groups.flatMap((group) => group.rules);

export interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string }[];
}

export const dashboard: { panels: readonly Panel[]; uid: string } = JSON.parse(grafanaDashboard());
export const panels: readonly Panel[] = dashboard.panels.filter(({ type }) => type !== "row");
