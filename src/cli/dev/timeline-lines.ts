import type { Platform, TimelineEntry } from "../../platform/index.ts";
import { print } from "../output.ts";

/** Prints a line for all that happens on a platform from now on and is worth one. */
export function tellTimeline(platform: Platform): void {
  platform.onTimeline((entry) => {
    const line = timelineLine(entry);
    if (line !== undefined) print(line);
  });
}

/** One line of `service-bot dev` for what happened on the platform; undefined for what is not worth one. */
export function timelineLine(entry: TimelineEntry): string | undefined {
  const what = describe(entry);
  return what && `${clockTime(entry.at)} ${what}`;
}

function describe(entry: TimelineEntry): string | undefined {
  switch (entry.kind) {
    case "event": {
      const late = entry.lateMs === undefined ? "" : `  late by ${entry.lateMs} ms`;
      return `--> ${entry.type} ${entry.id} @${entry.from}${quoted(entry.text)}${late}`;
    }
    case "delivery": {
      const outcome = entry.status === null ? "[no answer]" : `[${entry.status}]`;
      const count = entry.eventIds.length === 1 ? "" : `  ${entry.eventIds.length} events`;
      const error = entry.error === undefined ? "" : `  ${entry.error}`;
      return `<-- ${outcome} ${entry.ms} ms  attempt ${entry.attempt}${count}${error}`;
    }
    case "api": {
      // Reading is what polling does all the time; only what the bot says is worth a line.
      if (entry.method === "GET" && entry.status === 200) return undefined;
      const status = entry.status === null ? "[no answer]" : `[${entry.status}]`;
      const who = entry.doctor === true ? "doctor" : "api";
      return `${who} ${entry.method} ${entry.path} ${status} ${entry.ms} ms${quoted(entry.text)}`;
    }
    case "webhook":
      return `*** webhook ${entry.change}: ${entry.reason}`;
    case "app":
      return `*** app of @${entry.bot} ${entry.change}`;
    case "fault":
      return `*** ${entry.target} fault ${entry.change}: ${entry.detail}`;
    case "state":
      return `*** ${entry.change}: ${entry.detail}`;
  }
}

function quoted(text: string | undefined): string {
  return text === undefined ? "" : ` ${JSON.stringify(text)}`;
}

/** The time of day here, for people. */
export function clockTime(at: string | number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}
