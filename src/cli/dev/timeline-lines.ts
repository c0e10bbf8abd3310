import type { Platform, TimelineEntry } from "../../platform/index.ts";
import { wordsOf } from "../../platform/timeline/words.ts";
import { printLine } from "../output.ts";

/** Prints a line for all that happens on a platform from now on and is worth one. */
export function tellTimeline(platform: Platform): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line !== undefined) printLine(line);
  });
}

/** One line of `service-bot dev` for what happened on the platform; undefined for what is not worth one. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  // Reading is what polling does all the time; only what the bot says is worth a line.
  if (entry.kind === "api" && entry.method === "GET" && entry.status === 200) return undefined;
  return `${clockTime(entry.at)} ${wordsOf(entry)}`;
}

/** The time of day here, for people. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
