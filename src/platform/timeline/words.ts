import type { TimelineRecord } from "./entries.ts";

/** What happened, in a line: for `service-bot dev`, and for the page, which is why nothing but types is imported here. */
export function wordsOf(entry: TimelineRecord): string {
  switch (entry.kind) {
    case "event": {
      const late = entry.lateMs === undefined ? "" : `  late by ${entry.lateMs} ms`;
      return `--> ${entry.type} ${entry.id} @${entry.from}${quoted(entry.text)}${late}`;
    }
    case "delivery": {
      const count = entry.eventIds.length === 1 ? "" : `  ${entry.eventIds.length} events`;
      const error = entry.error === undefined ? "" : `  ${entry.error}`;
      return `<-- ${statusWords(entry.status)} ${entry.ms} ms  attempt ${entry.attempt}${count}${error}`;
    }
    case "api": {
      const who = entry.doctor === true ? "doctor" : "api";
      const { method, path, ms, text } = entry;
      return `${who} ${method} ${path} ${statusWords(entry.status)} ${ms} ms${quoted(text)}`;
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

/** The status of an answer, as it stands in a line: "[200]". @param status null where no answer came */
export function statusWords(status: number | null): string {
  return status === null ? "[no answer]" : `[${status}]`;
}

function quoted(text: string | undefined): string {
  return text === undefined ? "" : ` ${JSON.stringify(text)}`;
}
