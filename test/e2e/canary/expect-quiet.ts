import { expect } from "vitest";
import { undocumented } from "../../docs/logged.ts";
import type { TestProcess } from "../../support/process.ts";
import { leaks } from "./forms.ts";
import type { Stage } from "./stage.ts";

const SHOWN = 2_000;

/** Expects that every situation occurred, and that no output leaked a canary. */
export function expectQuiet(it: Stage, told: readonly string[]): void {
  const output = it.everything();
  expect(told.filter((words) => !output.includes(words))).toEqual([]);
  const lines = output.split("\n").flatMap((line) => {
    const names = leaks(line, it.canaries);
    return names.length === 0 ? [] : [`${names}: ${line.slice(0, SHOWN)}`];
  });
  expect(lines).toEqual([]);
  expect(leaks(output, it.canaries)).toEqual([]);
  const odd = linesOf(it.runs).map(undocumented);
  expect([...new Set(odd)].filter((line) => line !== undefined)).toEqual([]);
}

function linesOf(runs: readonly TestProcess[]): Record<string, unknown>[] {
  const lines = runs.flatMap(({ stdout }) => stdout).filter((line) => line.startsWith("{"));
  const records = lines.map((line): Record<string, unknown> => JSON.parse(line));
  return records.filter(({ msg }) => msg !== "got" && !String(msg).startsWith("they are "));
}
