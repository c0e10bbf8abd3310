import type { Platform } from "../../platform/index.ts";
import { wordsOf } from "../../platform/timeline/words.ts";
import type { TimelineEntry } from "../../platform/types.ts";
import { printLine } from "../output.ts";

/** Prints all that happens on a platform from now on and is worth a line. */
export function tellTimeline(
  platform: Platform,
  writeLine: (line: string) => void = printLine,
): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line === undefined) return;
    for (const each of [line, ...stackLines(entry)]) writeLine(each);
  });
}

/** One line of `service-bot dev` for what happened on the platform; undefined for what is not worth one. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  // Reading is what polling does all the time; only what the bot says is worth a line.
  if (entry.kind === "api" && entry.method === "GET" && entry.status === 200) return undefined;
  // A run that is done shows in what the bot says.
  if (entry.kind === "run" && entry.outcome === "done") return undefined;
  return `${clockTime(entry.at)} ${wordsOf(entry)}`;
}

/** Returns the frames of a failed run's stack, if the bot has sent it with this run. */
export function stackLines(entry: TimelineEntry): readonly string[] {
  if (entry.kind !== "run" || entry.error?.stack === undefined) return [];
  const { type, message, stack } = entry.error;
  // The first line of a stack repeats the error.
  return stack.replace(`${type}: ${message}`, "").split("\n").filter(Boolean);
}

/** The time of day here, for people. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
