import type { Written } from "./checker.ts";

/** One run of a handler, as the bot under test wrote it down. */
export interface Run {
  readonly id: string;
  readonly lane: string;
  readonly late: boolean;
}

/** Reads the lines that the bot wrote: id, lane, late. */
export function readRuns(text: string): Run[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const [id = "", lane = "", late] = line.split(" ");
    return { id, lane, late: late === "true" };
  });
}

/**
 * Where nothing fails, each event is handled in exactly one run, and says that it is late if and only
 * if a later one of its lane was handled before. Ids of one length are compared as text.
 */
export function checkRuns(written: readonly Written[], runs: readonly Run[]): string[] {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  const newest = new Map<string, string>();
  for (const { id, lane, late } of runs) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
    const before = newest.get(lane) ?? "";
    if (late !== id < before) {
      const said = late ? "was called late" : "was not called late";
      violations.push(`reordered: ${id} ${said} after ${before || "nothing"} in ${lane}`);
    }
    if (id > before) newest.set(lane, id);
  }
  for (const { id } of written) {
    const count = counts.get(id) ?? 0;
    if (count !== 1)
      violations.push(`${count === 0 ? "lost" : "duplicated"}: ${id} had ${count} runs`);
  }
  return violations;
}
