import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { refusals } from "../../contract/refusal-contract.ts";
import { rules, sectionOf } from "./rules.ts";

const refused = Object.keys(refusals).map((id) => ({ id, file: "section-7.test.ts" }));

const shown = readdirSync(import.meta.dirname)
  .filter((name) => /^section-\d.*\.test\.ts$/.test(name))
  .flatMap((file) => {
    const source = readFileSync(new URL(file, import.meta.url), "utf8");
    const found = source.matchAll(/^(?:rule(?:OfDownloads)?\(\s*"([^"]+)"| {2}"(\d[^"]+)":)/gm);
    return [...found].map(([, alone, tabulated]) => ({ id: alone ?? tabulated ?? "", file }));
  })
  .concat(refused);

test("every rule has exactly one test, and every test has a rule", () => {
  expect(shown.map(({ id }) => id).toSorted()).toEqual(Object.keys(rules).toSorted());
});

test("a rule is tested in its section's file", () => {
  expect(shown.filter(({ id, file }) => !file.startsWith(`section-${sectionOf(id)}`))).toEqual([]);
});

test("a rule is one sentence, and no two rules are the same", () => {
  const sentences = Object.values(rules);
  expect(new Set(sentences).size).toBe(sentences.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^\S[^\n]{9,99}$/);
});

test("there are rules from sections 2 to 8", () => {
  expect([...new Set(Object.keys(rules).map(sectionOf))]).toEqual([..."2345678"]);
});

test("no rule's test is skipped, marked as todo, or expected to fail", () => {
  for (const file of new Set(shown.map((one) => one.file))) {
    const source = readFileSync(new URL(file, import.meta.url), "utf8");
    expect(source).not.toMatch(/\.(skip|todo|fails|only)\b|\btest\(/);
  }
});

test("the documentation says how many rules there are", () => {
  const page = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");
  const count = Object.keys(rules).length;
  expect(page("docs/reference/local-platform.md")).toContain(`${count} rules`);
  expect(page("CHANGELOG.md")).toContain(`${count} rules`);
});
