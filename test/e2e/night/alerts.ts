import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";
import { stringify } from "yaml";
import { isInstalled, SERVER_PATH } from "../../support/server-path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { CALM_MINUTES, FAULT_MINUTES, MENDED_MINUTES, type Night, seriesOf } from "./series.ts";

const run = promisify(execFile);

const RULES = fileURLToPath(new URL("../../../templates/operations/alerts.yml", import.meta.url));
const PAGE = fileURLToPath(new URL("../../../docs/operate/alerts.md", import.meta.url));

export const hasPromtool: boolean = isInstalled(["promtool", "--version"]);

export interface Fired {
  readonly calm: readonly string[];
  readonly fault: readonly string[];
  readonly mended: readonly string[];
}

/** Uses Prometheus itself to evaluate the shipped rules. */
export async function firedIn(night: Night): Promise<Fired> {
  const series = seriesOf(night);
  const calm = await firing(series, CALM_MINUTES - 1);
  const fault = await firing(series, CALM_MINUTES + FAULT_MINUTES - 1);
  const mended = await firing(series, CALM_MINUTES + FAULT_MINUTES + MENDED_MINUTES - 1);
  return { calm, fault, mended };
}

/**
 * promtool reports an alert only if the alert is unexpected. The test therefore expects an alert that does not exist,
 * and reads the firing alerts from the failure report.
 */
async function firing(series: readonly object[], minute: number): Promise<readonly string[]> {
  const file = join(temporaryFolder(), "night.yml");
  const test = {
    interval: "1m",
    input_series: series,
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minute}m`,
        exp_samples: [{ labels: '{alertname="nobody"}', value: 1 }],
      },
    ],
  };
  const rules = { rule_files: [RULES], evaluation_interval: "1m", tests: [test] };
  writeFileSync(file, stringify(rules, { lineWidth: 0 }));
  const env = { ...process.env, PATH: SERVER_PATH };
  const complaint = await run("promtool", ["test", "rules", file], { env }).then(
    () => "",
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
  const [, got] = complaint.split(/\bgot:/);
  if (got === undefined)
    throw new Error(`promtool did not report the firing alerts:\n${complaint}`);
  return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name = ""]) => name).sort();
}

/** Expects that these alerts fire only during the fault, and that the table in docs/operate/alerts.md lists them. */
export function expectAlerts(fired: Fired, fault: string, alerts: readonly string[]): void {
  expect(fired).toEqual({ calm: [], fault: alerts, mended: [] });
  expect(documented(fault)).toEqual(alerts);
}

export function expectRunbook(alert: string, words: readonly string[]): void {
  const page = runbook(alert).replaceAll(/\s+/g, " ");
  for (const word of words) expect(page).toContain(word);
}

function runbook(alert: string): string {
  const [, ...sections] = readFileSync(PAGE, "utf8").split(/^## /m);
  const section = sections.find((text) => text.split("\n", 1)[0] === alert);
  if (section === undefined) throw new Error(`docs/operate/alerts.md has no section ${alert}`);
  return section;
}

/** Returns the alerts that the table in docs/operate/alerts.md lists for a fault. The row must start with `fault`. */
function documented(fault: string): readonly string[] {
  const rows = readFileSync(PAGE, "utf8").split("\n");
  const row = rows.find((line) => line.startsWith(`| ${fault} |`));
  if (row === undefined) throw new Error(`docs/operate/alerts.md has no row "${fault}"`);
  return [...row.matchAll(/\[(ServiceBot\w+)\]/g)].map(([, name = ""]) => name).sort();
}
