import type { EntryOf } from "../../../types.ts";
import { span } from "../../parts/duration.ts";
import { eventTypes } from "./event-types.ts";
import {
  type Calls,
  type Change,
  endOf,
  findHeldRequest,
  isFailed,
  isOwn,
  isRead,
  isTaken,
  type Overview,
  type Part,
  type Story,
  type Thing,
} from "./stories.ts";

/** `bad` needs attention. `warn` may resolve without action. */
export type Tone = "bad" | "warn" | "plain";

export interface OutcomeLabel {
  readonly tone: Tone;
  readonly text: string;
  /** Start of an outcome that is still in progress. ISO 8601. */
  readonly since?: string;
}

export type Bots = Pick<Overview, "reporting" | "off">;

/** Slower requests are highlighted, and slower runs show their duration. */
export const SLOW_MS = 2_000;

export function outcomeOf({ event, parts }: Story, { reporting, off }: Bots): OutcomeLabel {
  const held = findHeldRequest(parts);
  if (held !== undefined)
    return { tone: "warn", text: `Waiting for ${held.detail}`, since: held.at };
  const end = endOf(parts);
  if (end?.kind === "inbox") {
    return { tone: "plain", text: end.change === "retried" ? "Queued to run again" : "Discarded" };
  }
  if (end !== undefined) return end.outcome === "done" ? handled(end, parts) : failed(end);
  const got = parts.find(isTaken);
  if (got !== undefined) {
    if (reporting.has(event.bot)) return { tone: "plain", text: "Being handled", since: got.at };
    return { tone: "plain", text: got.kind === "api" ? "Read by polling" : "Delivered" };
  }
  if (isOwn(event.id)) return { tone: "plain", text: "Being handled", since: event.at };
  if (off.has(event.bot)) {
    return { tone: "plain", text: "Webhook off: the bot will read it by polling" };
  }
  const last = parts.findLast(({ kind }) => kind === "delivery");
  if (last?.kind === "delivery") return { tone: "bad", text: `Delivery failed: ${last.error}` };
  const late = event.lateMs === undefined ? "" : ` (a fault delays it by ${span(event.lateMs)})`;
  return { tone: "plain", text: `Waiting to be delivered${late}` };
}

function handled({ ms, attempt }: EntryOf<"run">, parts: readonly Part[]): OutcomeLabel {
  const calls = parts.filter(
    (part) => part.kind === "api" && !isRead(part),
  ) as readonly EntryOf<"api">[];
  const answer = calls.findLast(({ method, text }) => method === "POST" && text !== undefined);
  const slow = calls.findLast((call) => call.ms >= SLOW_MS);
  const text = answer?.text === undefined ? "Handled" : `Answered “${answer.text}”`;
  const tries = attempt > 1 ? ` on attempt ${attempt}` : "";
  const time = ms >= SLOW_MS || (tries === "" && answer === undefined) ? ` in ${span(ms)}` : "";
  const why = slow === undefined ? "" : `: ${slow.method} ${slow.path} took ${span(slow.ms)}`;
  return { tone: slow === undefined ? "plain" : "warn", text: text + tries + time + why };
}

function failed({ attempt, outcome, error }: EntryOf<"run">): OutcomeLabel {
  const why = error === undefined ? "" : `: ${error.type}: ${error.message}`;
  if (outcome === "released") return { tone: "warn", text: `Postponed${why}` };
  const what =
    outcome === "dead" ? `Dead letter after attempt ${attempt}` : `Attempt ${attempt} failed`;
  return { tone: "bad", text: what + why };
}

export function answerOf(answer: Parameters<typeof isFailed>[0]): OutcomeLabel {
  const { status } = answer;
  return {
    tone: isFailed(answer) ? "bad" : "plain",
    text: status === null ? "no response" : `${status}`,
  };
}

/** Does not count a disabled webhook, which has a banner instead. */
export function isTrouble(thing: Thing, bots: Bots): boolean {
  if (thing.kind === "event") return outcomeOf(thing, bots).tone === "bad";
  return thing.kind === "calls" && !thing.recovered && isFailed(thing.call);
}

const typeTexts: Readonly<Record<string, { readonly act: string } | undefined>> = eventTypes;

/** Describes the action behind an event: "mentioned the bot: “hello”". */
export function actOf({ type, text }: Pick<Story["event"], "type" | "text">): string {
  const quoted = text === undefined ? "" : `“${text}”`;
  return [typeTexts[type]?.act ?? type, quoted].filter(Boolean).join(": ") || type;
}

const names = { webhook: "Webhook", fault: "Fault", state: "State" } as const;

/** Describes a change to the platform: "Webhook disabled: 20 failures in a row". */
export function changeOf({ entry }: Change): string {
  if (entry.kind === "app") return `@${entry.bot}'s app: ${entry.change}`;
  const detail = entry.kind === "webhook" ? entry.reason : entry.detail;
  if (entry.kind === "fault" && entry.change === "set") {
    if (detail.startsWith("none")) return "Fault stopped";
    return `Fault started: ${detail.replace(/^mix/, "random failures")}`;
  }
  return `${names[entry.kind]} ${entry.change}: ${detail}`;
}

/** Describes requests without an event: "GET /events". */
export function callOf({ call }: Calls): string {
  const sender = call.doctor === true ? "service-bot doctor: " : "";
  const quoted = call.text === undefined ? "" : ` “${call.text}”`;
  return `${sender}${call.method} ${call.path}${quoted}`;
}
