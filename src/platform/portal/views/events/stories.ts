import type { EntryOf, InboxView, TimelineEntry } from "../../../types.ts";

type Delivery = EntryOf<"delivery">;
type Call = EntryOf<"api">;
type Run = EntryOf<"run">;
type Decision = EntryOf<"inbox">;
type FaultEntry = EntryOf<"fault">;

export type Part = Delivery | Call | Run | Decision | FaultEntry;

export interface Story {
  readonly kind: "event";
  readonly event: EntryOf<"event">;
  /** Deliveries, runs, requests and decisions, oldest first. */
  readonly parts: readonly Part[];
}

/** Requests by the bot that belong to no event. Repeated failures share one row with a count. */
export interface Calls {
  readonly kind: "calls";
  readonly call: Call;
  count: number;
  lastAt: string;
  /** True once the same request has succeeded. */
  recovered: boolean;
}

export interface Change {
  readonly kind: "change";
  readonly entry: EntryOf<"webhook" | "app" | "fault" | "state">;
}

export type Thing = Story | Calls | Change;

export function entryOf(thing: Thing) {
  if (thing.kind === "event") return thing.event;
  return thing.kind === "calls" ? thing.call : thing.entry;
}

/**
 * Returns an event's key, which is unique across all bots: its id, or `bot/id` for a timer or cron event, because cron
 * events of different bots may share an id.
 */
export function keyOfEvent({ bot, id }: { bot?: string | undefined; id: string }): string {
  return isOwn(id) ? `${bot}/${id}` : id;
}

/** `bot` is `undefined` for an event in the platform's log. */
export function readKey(key: string): { readonly bot: string | undefined; readonly id: string } {
  const [, bot, id = key] = /^(\w+)\/(.+)$/s.exec(key) ?? [];
  return { bot, id };
}

/** Returns the id of an expandable row. For an event, the id is its key. */
export function idOf(thing: Thing): string | undefined {
  const entry = entryOf(thing);
  if (entry.kind === "event") return keyOfEvent(entry);
  return "id" in entry ? entry.id : undefined;
}

export interface Overview {
  readonly things: readonly Thing[];
  readonly stories: ReadonlyMap<string, Story>;
  readonly idle: { readonly count: number; readonly lastAt: string } | undefined;
  readonly off: ReadonlySet<string>;
  /** Bots that report their runs. For all other bots, the timeline contains only deliveries. */
  readonly reporting: ReadonlySet<string>;
}

interface GrowingStory extends Story {
  event: Story["event"];
  parts: Part[];
}

export function overviewOf(entries: readonly TimelineEntry[]): Overview {
  const things: Thing[] = [];
  const stories = new Map<string, GrowingStory>();
  const reporting = new Set<string>();
  const off = new Set<string>();
  /** Rows of failed requests. The next identical failure is counted in the same row. */
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
        // Ignore repeated reads, because bots reread the newest minute of the log.
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

function isPart(entry: Exclude<TimelineEntry, { kind: "event" }>): entry is Part {
  if (entry.kind === "fault") {
    return entry.target === "api" && (entry.change === "held" || entry.change === "released");
  }
  return entry.kind !== "webhook" && entry.kind !== "app" && entry.kind !== "state";
}

/** Adds a run's conversation or post to its timer event, because earlier requests may not have named it. */
function placed(event: Story["event"], { conversationId, postId }: Run): Story["event"] {
  return { ...event, ...(conversationId && { conversationId }), ...(postId && { postId }) };
}

function eventKeysOf(part: Part): readonly string[] {
  if (part.kind === "delivery" || isRead(part)) return part.eventIds;
  const { bot, eventId: id } = part;
  return id === undefined ? [] : [keyOfEvent({ bot, id })];
}

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

/** Returns whether the event is one of the bot's own timers or crons, which are not in the platform's log. */
export function isOwn(id: string): boolean {
  return /^(timer|cron):/.test(id);
}

type Step = InboxView["steps"][number];

/** A step in its place among an event's parts. */
export interface PlacedStep {
  readonly kind: "step";
  readonly step: Step;
  /** Time when the step began. ISO 8601. */
  readonly at: string;
}

/**
 * Places steps among an event's parts: before the request that created the step's content, or at the time when the step
 * began. A step without such a place is before the end of the last run.
 */
export function withSteps(
  parts: readonly Part[],
  steps: readonly Step[],
): readonly (Part | PlacedStep)[] {
  const placed: (Part | PlacedStep)[] = [...parts];
  for (const step of steps) {
    const created = placed.findIndex((part) => part.kind === "api" && creates(part, step.ref));
    const request = placed[created];
    const at = request?.kind === "api" ? startOf(request) : step.startedAt;
    const end = placed.findLastIndex(({ kind }) => kind === "run");
    const later = placed.findIndex((part, nth) => nth === end || timeOf(part) > at);
    const places = [created, later, placed.length].filter((place) => place >= 0);
    const line = { kind: "step", step, at: new Date(at).toISOString() } as const;
    placed.splice(places[0] ?? 0, 0, line);
  }
  return placed;
}

function creates({ created }: Call, ref: string | undefined): boolean {
  return ref !== undefined && created !== undefined && Object.values(created).includes(ref);
}

/** A request's entry is from its end. */
function startOf({ at, ms }: Call): number {
  return Date.parse(at) - ms;
}

function timeOf(part: Part | PlacedStep): number {
  return Date.parse(part.at);
}

export function findHeldRequest(parts: readonly Part[]): FaultEntry | undefined {
  const last = parts.findLast(({ kind }) => kind !== "delivery");
  return last?.kind === "fault" && last.change === "held" ? last : undefined;
}

export function endOf(parts: readonly Part[]): Run | Decision | undefined {
  return parts.findLast((part) => part.kind === "run" || part.kind === "inbox");
}

/** Returns true if the bot received the event, false for a failed delivery, and `undefined` for other entries. */
export function isTaken(part: Part): boolean | undefined {
  if (part.kind === "delivery") return part.error === undefined;
  return isRead(part) ? true : undefined;
}

/** Returns a run's error, unless it repeats an earlier error or is already shown above the lines. */
export function errorIn(run: Run, parts: readonly Part[]): Run["error"] {
  const runs = [endOf(parts), ...parts].filter((part) => part?.kind === "run");
  const first = runs.find(
    ({ error }) => error?.type === run.error?.type && error?.message === run.error?.message,
  );
  return first === run && run !== endOf(parts) ? run.error : undefined;
}

/** Returns an error's code, unless the message already begins with it. */
export function codeOf({ code, message }: NonNullable<Run["error"]>): string | undefined {
  return code !== undefined && message.startsWith(code) ? undefined : code;
}

/** Returns the text that a step sends. */
export function textOfStep(request: string): string {
  try {
    const { text = "" } = Object(JSON.parse(request));
    return String(text);
  } catch {
    return request;
  }
}

export function isFailed({ status, error }: Pick<Delivery, "status" | "error">): boolean {
  return error !== undefined || status === null || status >= 400;
}
