import type { ReportedError, RunReport } from "../../core/platform-contract.ts";
import type { TimelineRecord } from "./entries.ts";

/**
 * Describes an entry in one line, for `service-bot dev` and the portal. This file imports only types, because the
 * portal's bundle includes it.
 */
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
    case "run":
      return `!!! ${entry.eventId} ${runWords(entry)}`;
    case "inbox":
      return `*** ${entry.eventId} ${entry.change}`;
    case "webhook":
      return `*** webhook ${entry.change}: ${entry.reason}`;
    case "app":
      return `*** @${entry.bot}'s app: ${entry.change}`;
    case "fault":
      return `*** ${entry.target} fault ${entry.change}: ${entry.detail}`;
    case "state":
      return `*** ${entry.change}: ${entry.detail}`;
  }
}

/** Describes a handler run: "attempt 2 failed: TypeError: ...  next attempt in 4 s". */
export function runWords({ attempt, outcome, ms, error, retryInMs }: RunReport): string {
  const number = `attempt ${attempt}`;
  if (outcome === "done") return `${number} handled  ${ms} ms`;
  const why = error === undefined ? "" : `: ${errorWords(error)}`;
  const next = retryInMs === undefined ? "" : `  next attempt in ${spanWords(retryInMs)}`;
  if (outcome === "dead") return `${number} failed, dead letter${why}`;
  return `${number} ${outcome === "retry" ? "failed" : "postponed"}${why}${next}`;
}

function errorWords({ type, code, message }: ReportedError): string {
  return `${type}${code === undefined ? "" : ` ${code}`}: ${message}`;
}

/** Formats a duration: "350 ms", "4 s", "90 s". */
function spanWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1_000)} s`;
}

/**
 * Formats a response status: "[200]".
 *
 * @param status `null` if there was no response
 */
function statusWords(status: number | null): string {
  return status === null ? "[no response]" : `[${status}]`;
}

function quoted(text: string | undefined): string {
  return text === undefined ? "" : ` ${JSON.stringify(text)}`;
}
