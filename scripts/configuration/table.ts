import { join } from "node:path";
import { settings } from "../../src/config.ts";
import { nameIn } from "../reference/describe.ts";
import { entryPoints } from "../reference/reference.ts";
import { root } from "../root.ts";

export const PAGE: string = join(root, "docs/reference/configuration.md");

const HEAD = "| variable | option | default | meaning |\n|---|---|---|---|\n";

export function withTable(page: string): string {
  const start = page.indexOf(HEAD);
  const end = page.indexOf("\n\n", start);
  if (start < 0 || end < 0)
    throw new Error("docs/reference/configuration.md has no table of variables");
  return `${page.slice(0, start)}${HEAD}${rows().join("\n")}${page.slice(end)}`;
}

/** @throws {Error} if an option's docstring contradicts the table */
function rows(): string[] {
  const main = entryPoints().find(({ name }) => name === "service-bot");
  const members = main?.entries.find(({ name }) => name === "BotOptions")?.members ?? [];
  const texts = new Map(members.map((member) => [nameIn(member), member.docstring.text]));
  return Object.entries(settings).map(([option, { variable, fallback, optional = "required" }]) => {
    const text = texts.get(option) ?? "";
    const standard = fallback === undefined ? optional : `\`${fallback}\``;
    const [start, end] = [`${variable}: `, ` ${endOf(standard)}.`];
    if (!text.startsWith(start) || !text.endsWith(end)) {
      throw new Error(`The docstring of ${option} must be "${start}…${end}", but is "${text}"`);
    }
    const meaning = text.slice(start.length, -end.length).replace(/\.$/, "");
    return `| \`${variable}\` | \`${option}\` | ${standard} | ${meaning} |`;
  });
}

function endOf(standard: string): string {
  if (standard.startsWith("required")) return `R${standard.slice(1)}`;
  return standard.startsWith("`") ? `Default ${standard}` : `Default: ${standard}`;
}
