import type { EntryOf, TimelineEntry } from "../../../types.ts";

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

/** Names an event of any bot: by its id, or by `bot/id`, because crons of several bots may have one id. */
export function keyOfEvent({ bot, id }: { bot?: string | undefined; id: string }): string {
  return isOwn(id) ? `${bot}/${id}` : id;
}

/** Reads the key of an event. The bot of an event of the platform is `undefined`. */
export function readKey(key: string): { readonly bot: string | undefined; readonly id: string } {
  const [, bot, id = key] = /^(\w+)\/(.+)$/s.exec(key) ?? [];
  return { bot, id };
}

/** Returns the id of a thing that opens; of an event its key. */
export function idOf(thing: Thing): string | undefined {
  const entry = entryOf(thing);
  if (entry.kind === "event") return keyOfEvent(entry);
  return "id" in entry ? entry.id : undefined;
}

export interface Overview {
  /** Oldest first. */
  readonly things: readonly Thing[];
  /** By {@link keyOfEvent}. */
  readonly stories: ReadonlyMap<string, Story>;
  /** Requests that found nothing new. `undefined` without one. */
  readonly idle: { readonly count: number; readonly lastAt: string } | undefined;
  /** Bots whose webhook is off. */
  readonly off: ReadonlySet<string>;
  /** Bots that report their runs. Of the others only deliveries are known. */
  readonly reporting: ReadonlySet<string>;
}

interface GrowingStory extends Story {
  event: Story["event"];
  parts: Part[];
}

/** Makes one thing of all entries about it. */
export function overviewOf(entries: readonly TimelineEntry[]): Overview {
  const things: Thing[] = [];
  const stories = new Map<string, GrowingStory>();
  const reporting = new Set<string>();
  const off = new Set<string>();
  /** Rows of failures that the next equal request joins. */
  const failing = new Map<string, Calls>();
  let idle: Overview["idle"];
  for (const entry of entries) {
    if (entry.kind === "event") {
      const story: GrowingStory = { kind: "event", event: entry, parts: [] };
      stories.set(keyOfEvent(entry), story);
      things.push(story);
      continue;
    }
    if (entry.kind === "run") reporting.add(entry.bot);
    if (entry.kind === "webhook" && entry.change === "disabled") off.add(entry.bot);
    if (entry.kind === "webhook" && entry.change === "enabled") off.delete(entry.bot);
    if (isPart(entry)) {
      const about = eventKeysOf(entry)
        .flatMap((key) => stories.get(key) ?? [])
        // The newest minute of the log is read again and again.
        .filter(({ parts }) => !isRead(entry) || !parts.some(isTaken));
      for (const story of about) {
        story.parts.push(entry);
        if (entry.kind === "run" && isOwn(entry.eventId)) story.event = placed(story.event, entry);
      }
      if (entry.kind !== "api") continue;
      recover(failing, entry);
      if (about.length > 0) continue;
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

/** Adds the place of a run to its timer, which a request before it may not have named. */
function placed(event: Story["event"], { conversationId, postId }: Run): Story["event"] {
  return { ...event, ...(conversationId && { conversationId }), ...(postId && { postId }) };
}

function eventKeysOf(part: Part): readonly string[] {
  if (part.kind === "delivery" || isRead(part)) return part.eventIds;
  const { bot, eventId: id } = part;
  return id === undefined ? [] : [keyOfEvent({ bot, id })];
}

/** True for a page of the log that reached the bot with events. */
export function isRead(part: Part): part is Call & { readonly eventIds: readonly string[] } {
  return part.kind === "api" && part.status === 200 && part.eventIds !== undefined;
}

function keyOf({ bot, method, path }: Call): string {
  return `${bot} ${method} ${path}`;
}

function recover(failing: Map<string, Calls>, call: Call): void {
  const row = failing.get(keyOf(call));
  if (row === undefined || isFailed(call)) return;
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
  if (isFailed(call)) failing.set(keyOf(call), row);
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

/** Finds the error that the line of a run shows: each once, and none that stands above the lines. */
export function errorIn(run: Run, parts: readonly Part[]): Run["error"] {
  const runs = [endOf(parts), ...parts].filter((part) => part?.kind === "run");
  const first = runs.find(
    ({ error }) => error?.type === run.error?.type && error?.message === run.error?.message,
  );
  return first === run && run !== endOf(parts) ? run.error : undefined;
}

/** Returns the code of an error whose message does not begin with it. */
export function codeOf({ code, message }: NonNullable<Run["error"]>): string | undefined {
  return code !== undefined && message.startsWith(code) ? undefined : code;
}

/** Reads the request of a step: the text that it sends, and its time: ISO 8601. */
export function intentOf(request: string): { readonly text: string; readonly at?: string } {
  try {
    const { text = "", at } = Object(JSON.parse(request));
    const time = typeof at === "number" ? { at: new Date(at).toISOString() } : {};
    return { text: String(text), ...time };
  } catch {
    return { text: request };
  }
}

/** True for a delivery or a request without a good answer. */
export function isFailed({ status, error }: Pick<Delivery, "status" | "error">): boolean {
  return error !== undefined || status === null || status >= 400;
}
