import type { EntryOf, TimelineEntry } from "../../../types.ts";
import { span } from "../../parts/duration.ts";

type Delivery = EntryOf<"delivery">;
type Call = EntryOf<"api">;
type Run = EntryOf<"run">;
type Decision = EntryOf<"inbox">;
type Held = EntryOf<"fault">;

/** Entry of the timeline about an event. */
export type Part = Delivery | Call | Run | Decision | Held;

/** An event with all that the timeline knows about it. */
export interface Story {
  readonly kind: "event";
  readonly event: EntryOf<"event">;
  /** Deliveries, runs, requests and decisions, oldest first. */
  readonly parts: readonly Part[];
}

/** Requests of the bot that belong to no event. Equal failures are one row, with their count. */
export interface Calls {
  readonly kind: "calls";
  readonly call: Call;
  count: number;
  lastAt: string;
  /** True once an equal request succeeded. */
  recovered: boolean;
}

/** A change of the platform, such as a webhook that was switched off. */
export interface Change {
  readonly kind: "change";
  readonly entry: EntryOf<"webhook" | "app" | "fault" | "state">;
}

/** One row of the list. */
export type Thing = Story | Calls | Change;

/** Returns the entry that a row begins with. */
export function entryOf(thing: Thing) {
  if (thing.kind === "event") return thing.event;
  return thing.kind === "calls" ? thing.call : thing.entry;
}

/** Returns the id of a thing that opens. */
export function idOf(thing: Thing): string | undefined {
  const entry = entryOf(thing);
  return "id" in entry ? entry.id : undefined;
}

export interface Overview {
  /** Oldest first. */
  readonly things: readonly Thing[];
  readonly stories: ReadonlyMap<string, Story>;
  /** Requests that found nothing new. `undefined` without one. */
  readonly idle: { readonly count: number; readonly lastAt: string } | undefined;
  /** Bots whose webhook is off. */
  readonly off: ReadonlySet<string>;
  /** Bots that report their runs. Of the others only deliveries are known. */
  readonly reporting: ReadonlySet<string>;
}

/** Makes one thing of all entries about it. */
export function overviewOf(entries: readonly TimelineEntry[]): Overview {
  const things: Thing[] = [];
  const stories = new Map<string, Story & { parts: Part[] }>();
  const reporting = new Set<string>();
  const off = new Set<string>();
  /** Rows of failures that the next equal request joins. */
  const failing = new Map<string, Calls>();
  let idle: Overview["idle"];
  for (const entry of entries) {
    if (entry.kind === "event") {
      const story = { kind: "event" as const, event: entry, parts: [] };
      stories.set(entry.id, story);
      things.push(story);
      continue;
    }
    if (entry.kind === "run") reporting.add(entry.bot);
    if (entry.kind === "webhook" && entry.change === "disabled") off.add(entry.bot);
    if (entry.kind === "webhook" && entry.change === "enabled") off.delete(entry.bot);
    if (isPart(entry)) {
      const about = eventIdsOf(entry).flatMap((id) => stories.get(id) ?? []);
      for (const { parts } of about) parts.push(entry);
      if (entry.kind !== "api") continue;
      recover(failing, entry);
      if (about.length > 0 || isRead(entry)) continue;
      if (entry.method !== "GET" || entry.status !== 200) addCall(things, failing, entry);
      else idle = { count: (idle?.count ?? 0) + 1, lastAt: entry.at };
    } else things.push({ kind: "change", entry });
  }
  return { things, stories, idle, off, reporting };
}

/** True for an entry that is no row of its own. */
function isPart(entry: Exclude<TimelineEntry, { kind: "event" }>): entry is Part {
  if (entry.kind === "fault") {
    return entry.target === "api" && (entry.change === "held" || entry.change === "released");
  }
  return entry.kind !== "webhook" && entry.kind !== "app" && entry.kind !== "state";
}

function eventIdsOf(part: Part): readonly string[] {
  if (part.kind === "delivery" || isRead(part)) return part.eventIds;
  return part.eventId === undefined ? [] : [part.eventId];
}

/** True for a page of the log that reached the bot with events. */
function isRead(part: Part): part is Call & { readonly eventIds: readonly string[] } {
  return part.kind === "api" && part.status === 200 && part.eventIds !== undefined;
}

function keyOf({ bot, method, path }: Call): string {
  return `${bot} ${method} ${path}`;
}

function recover(failing: Map<string, Calls>, call: Call): void {
  const row = failing.get(keyOf(call));
  if (row === undefined || answerOf(call).tone === "bad") return;
  row.recovered = true;
  failing.delete(keyOf(call));
}

/** Adds a row, or counts a failure in the row of the failures before. */
function addCall(things: Thing[], failing: Map<string, Calls>, call: Call): void {
  const before = failing.get(keyOf(call));
  if (before?.call.status === call.status) {
    before.count += 1;
    before.lastAt = call.at;
    return;
  }
  const row: Calls = { kind: "calls", call, count: 1, lastAt: call.at, recovered: false };
  things.push(row);
  if (answerOf(call).tone === "bad") failing.set(keyOf(call), row);
}

/** `bad` is trouble that a developer has to look at; `warn` is trouble that may pass. */
export type Tone = "bad" | "warn" | "plain";

/** Result of an event, a delivery, a run or a request. */
export interface Outcome {
  readonly tone: Tone;
  readonly text: string;
  /** ISO 8601. Beginning of what is still under way. */
  readonly since?: string;
}

/** Facts about the bots that outcomes depend on. */
export type Bots = Pick<Overview, "reporting" | "off">;

/** In ms. A request that takes longer is slow, and a run that takes longer shows its duration. */
export const SLOW_MS = 2_000;

/** Describes what the bot made of an event. */
export function outcomeOf({ event, parts }: Story, { reporting, off }: Bots): Outcome {
  const held = heldIn(parts);
  if (held !== undefined)
    return { tone: "warn", text: `Waiting for ${held.detail}`, since: held.at };
  const end = endOf(parts);
  if (end?.kind === "inbox") {
    return { tone: "plain", text: end.change === "retried" ? "Set to run again" : "Discarded" };
  }
  if (end !== undefined) return end.outcome === "done" ? handled(end, parts) : outcomeOfRun(end);
  const got = parts.find(isTaken);
  if (got !== undefined) {
    if (reporting.has(event.bot)) return { tone: "plain", text: "Being handled", since: got.at };
    return { tone: "plain", text: got.kind === "api" ? "Read by polling" : "Delivered" };
  }
  if (isOwn(event.id)) return { tone: "plain", text: "Being handled", since: event.at };
  if (off.has(event.bot)) {
    return { tone: "plain", text: "Webhook off: the bot will find it when it polls" };
  }
  const last = parts.findLast(({ kind }) => kind === "delivery");
  if (last?.kind === "delivery") return { tone: "bad", text: `Delivery failed: ${last.error}` };
  const late = event.lateMs === undefined ? "" : `, held back for ${span(event.lateMs)}`;
  return { tone: "plain", text: `Waiting for delivery${late}` };
}

/** True for a timer or a cron of the bot, which is in no log. */
export function isOwn(id: string): boolean {
  return /^(timer|cron):/.test(id);
}

/** Finds the request that the platform has not answered yet. */
export function heldIn(parts: readonly Part[]): Held | undefined {
  const last = parts.findLast(({ kind }) => kind !== "delivery");
  return last?.kind === "fault" && last.change === "held" ? last : undefined;
}

/** Finds the last run, or the decision that came after it. */
export function endOf(parts: readonly Part[]): Run | Decision | undefined {
  return parts.findLast((part) => part.kind === "run" || part.kind === "inbox");
}

/** True if the bot got the event: false for a delivery that failed, `undefined` for other parts. */
export function isTaken(part: Part): boolean | undefined {
  if (part.kind === "delivery") return part.error === undefined;
  return isRead(part) ? true : undefined;
}

function handled({ ms, attempt }: Run, parts: readonly Part[]): Outcome {
  const calls = parts.filter((part) => part.kind === "api" && !isRead(part)) as readonly Call[];
  const answer = calls.findLast(({ method, text }) => method === "POST" && text !== undefined);
  const slow = calls.findLast((call) => call.ms >= SLOW_MS);
  const text = answer?.text === undefined ? "Handled" : `Answered “${answer.text}”`;
  const tries = attempt > 1 ? ` at attempt ${attempt}` : "";
  const time = ms >= SLOW_MS || (tries === "" && answer === undefined) ? ` in ${span(ms)}` : "";
  const why = slow === undefined ? "" : `: ${slow.method} ${slow.path} took ${span(slow.ms)}`;
  return { tone: slow === undefined ? "plain" : "warn", text: text + tries + time + why };
}

/** Describes a run: "Attempt 2 failed: TypeError: …". */
export function outcomeOfRun({ attempt, outcome, error, ms }: Run): Outcome {
  const why = error === undefined ? "" : `: ${error.type}: ${error.message}`;
  switch (outcome) {
    case "done":
      return { tone: "plain", text: `Attempt ${attempt} handled in ${span(ms)}` };
    case "retry":
      return { tone: "bad", text: `Attempt ${attempt} failed${why}` };
    case "released":
      return { tone: "warn", text: `Put off${why}` };
    case "dead":
      return { tone: "bad", text: `Dead letter after attempt ${attempt}${why}` };
  }
}

/** Describes the answer to a delivery or a request. */
export function answerOf({ status, error }: { status: number | null; error?: string }): Outcome {
  const isGood = error === undefined && status !== null && status < 400;
  return { tone: isGood ? "plain" : "bad", text: status === null ? "no answer" : String(status) };
}

/** True for a thing that a developer has to look at. */
export function isTrouble(thing: Thing, bots: Bots): boolean {
  if (thing.kind === "event") return outcomeOf(thing, bots).tone === "bad";
  if (thing.kind === "calls") return !thing.recovered && answerOf(thing.call).tone === "bad";
  return thing.entry.kind === "webhook" && thing.entry.change === "disabled";
}

const acts: Readonly<Record<string, string>> = {
  "dm.message": "",
  mention: "mentioned the bot",
  comment: "commented",
  reply: "replied",
  follow: "follows the bot",
  like: "liked it",
  repost: "reposted it",
  quote: "quoted it",
};

/** Describes what a person did: "mentioned the bot: “hello”". */
export function actOf({ type, text }: Pick<Story["event"], "type" | "text">): string {
  const quoted = text === undefined ? "" : `“${text}”`;
  return [acts[type] ?? type, quoted].filter(Boolean).join(": ") || type;
}

const names = { webhook: "Webhook", fault: "Fault", state: "State" } as const;

/** Describes a change of the platform: "Webhook disabled: 20 failures in a row". */
export function changeOf({ entry }: Change): string {
  if (entry.kind === "app") return `App of @${entry.bot} ${entry.change}`;
  const detail = entry.kind === "webhook" ? entry.reason : entry.detail;
  return `${names[entry.kind]} ${entry.change}: ${detail}`;
}

/** Describes requests that belong to no event: "GET /events". */
export function callOf({ call }: Calls): string {
  const sender = call.doctor === true ? "service-bot doctor: " : "";
  const quoted = call.text === undefined ? "" : ` “${call.text}”`;
  return `${sender}${call.method} ${call.path}${quoted}`;
}

export interface Filter {
  /** Words that a thing must have, all of them. Empty: every thing. */
  readonly text: string;
  /** An event type. Empty: every type. */
  readonly type: string;
  readonly onlyTrouble: boolean;
}

/** Selects the things that fit, in their order. */
export function select(overview: Overview, { text, type, onlyTrouble }: Filter): readonly Thing[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return overview.things.filter((thing) => {
    if (type !== "" && (thing.kind !== "event" || thing.event.type !== type)) return false;
    if (onlyTrouble && !isTrouble(thing, overview)) return false;
    if (words.length === 0) return true;
    const searched = searchedIn(thing, overview).join(" ").toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function searchedIn(thing: Thing, bots: Bots): readonly string[] {
  if (thing.kind === "change") return [changeOf(thing)];
  if (thing.kind === "calls") return [callOf(thing), thing.call.id, answerOf(thing.call).text];
  const { event, parts } = thing;
  const { from, bot, id, type, conversationId = "", postId = "" } = event;
  const { tone, text } = outcomeOf(thing, bots);
  const found = parts.flatMap((part) => {
    if (part.kind === "delivery") return [part.id];
    return part.kind === "api" ? [part.id, part.path, ...Object.values(part.created ?? {})] : [];
  });
  const failed = tone === "bad" ? "failed" : "";
  return [
    `@${from} @${bot}`,
    id,
    type,
    actOf(event),
    text,
    failed,
    conversationId,
    postId,
    ...found,
  ];
}
