import type { EntryOf, Platform, TimelineEntry } from "../../platform/index.ts";
import { wordsOf } from "../../platform/timeline/words.ts";
import { print } from "../output.ts";
import { printable } from "../text.ts";

/** Prints a line for all that happens on a platform from now on and is worth one. */
export function tellTimeline(platform: Platform): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line !== undefined) print(line);
  });
}

/** One line of `service-bot dev` for what happened on the platform; undefined for what is not worth one. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  // Reading is what polling does all the time; only what the bot says is worth a line.
  if (entry.kind === "api" && entry.method === "GET" && entry.status === 200) return undefined;
  if (entry.kind === "run") return runLines(entry);
  return `${clockTime(entry.at)} ${wordsOf(entry)}`;
}

/** Shows a run that failed, with its stack if the bot has sent it; `undefined` for one that is done. */
function runLines(entry: EntryOf<"run">): string | undefined {
  if (entry.outcome === "done") return undefined;
  const { type = "", message = "", stack } = entry.error ?? {};
  // The first line of a stack repeats the error.
  const frames = stack?.replace(`${type}: ${message}`, "").split("\n").filter(Boolean) ?? [];
  return [`${clockTime(entry.at)} ${wordsOf(entry)}`, ...frames].map(printable).join("\n");
}

/** The time of day here, for people. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
