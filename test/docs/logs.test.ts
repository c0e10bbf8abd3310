import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childFields, logCalls } from "./log-calls.ts";
import { documentedFields, documentedLines, fieldsOfRun } from "./logged.ts";
import { codeBlocks, root } from "./markdown.ts";

const page = {
  path: "docs/operate/logs.md",
  text: readFileSync(join(root, "docs/operate/logs.md"), "utf8"),
};
const calls = logCalls();

const general = ["level", "time", "msg"];

/** Returns each line's level and sorted fields, without the fields of a run, so that messages may be reworded. */
function shapesOf(
  lines: readonly Pick<(typeof calls)[number], "levels" | "message" | "fields">[],
): string[] {
  const shapes = lines.flatMap(({ levels, message, fields }) =>
    levels.map((level) => [`${level} ${message}`, `${level}: ${own(fields).join(" ")}`] as const),
  );
  return [...new Map(shapes).values()].sort();
}

function own(fields: readonly string[]): readonly string[] {
  const isOfRun = fieldsOfRun.every((name) => fields.includes(name));
  return isOfRun ? fields.filter((name) => !fieldsOfRun.includes(name)) : fields;
}

test("docs/operate/logs.md has the level and the fields of every logged line, and no others", () => {
  expect(calls.length).toBeGreaterThan(50);
  expect(shapesOf(documentedLines)).toEqual(shapesOf(calls));
});

test("docs/operate/logs.md has every field, once, and no other", () => {
  const logged = new Set([...general, ...childFields(), ...calls.flatMap(({ fields }) => fields)]);
  expect([...documentedFields].sort()).toEqual([...logged].sort());
});

test("a message is logged with the same fields everywhere", () => {
  const fieldsOf = new Map<string, string>();
  for (const { message, fields } of calls) {
    const told = fields.join(" ");
    expect(fieldsOf.get(message) ?? told, message).toBe(told);
    fieldsOf.set(message, told);
  }
});

test("durations have their unit in their names, and errors are called err", () => {
  for (const name of documentedFields) {
    expect(name).not.toMatch(/^(error|e|exception)$/);
    expect(name).not.toMatch(/(after|delay|duration|elapsed|interval|timeout|wait)$/i);
  }
});

test("the queries of docs/operate/logs.md name fields and messages that there are", () => {
  const queries = codeBlocks(page).filter(({ language }) => language === "sh");
  const text = queries.map(({ code }) => code).join("\n");
  const names = [...text.matchAll(/(?<![\w)\]])\.([a-z]\w*)/gi)].map(([, name]) => name ?? "");
  const ofErrors = ["type", "message", "code", "stack", "log"];
  expect(names.length).toBeGreaterThan(10);
  expect(
    names.filter((name) => !documentedFields.includes(name) && !ofErrors.includes(name)),
  ).toEqual([]);
  const messages = [...text.matchAll(/\.msg == "([^"]+)"/g)].map(([, message]) => message);
  expect(messages.length).toBeGreaterThan(2);
  const known = new Set(calls.map(({ message }) => message));
  expect(messages.filter((message) => !known.has(message ?? ""))).toEqual([]);
});
