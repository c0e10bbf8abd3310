import { settings } from "../../src/config.ts";
import { nameIn } from "../reference/describe.ts";
import { entryPoints } from "../reference/reference.ts";
import type { DocsTable } from "./table.ts";

export const configuration: DocsTable = {
  page: "docs/reference/configuration.md",
  head: ["variable", "option", "default", "meaning"],
  rows,
};

/** @throws {Error} if an option's docstring contradicts the table */
function rows(): string[][] {
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
    return [`\`${variable}\``, `\`${option}\``, standard, meaning];
  });
}

function endOf(standard: string): string {
  if (standard.startsWith("required")) return `R${standard.slice(1)}`;
  return standard.startsWith("`") ? `Default ${standard}` : `Default: ${standard}`;
}
