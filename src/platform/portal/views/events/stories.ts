import type {
  ApiEntry,
  DeliveryEntry,
  EventEntry,
  RunEntry,
  TimelineEntry,
} from "../../../types.ts";
import { span } from "../../parts/duration.ts";

type Timed<T> = T & Pick<TimelineEntry, "seq" | "at">;

/** An event with all that the timeline knows about it. */
export interface Story {
  readonly kind: "event";
  readonly event: Timed<EventEntry>;
  readonly deliveries: Timed<DeliveryEntry>[];
  readonly runs: Timed<RunEntry>[];
  readonly calls: Timed<ApiEntry>[];
  /** True once the bot has read it in the log. */
  read: boolean;
  /** Runs before the dead letter was set to run again. */
  retriedAfter: number | undefined;
  discarded: boolean;
  /** When something last happened to it: ISO 8601. */
  changedAt: string;
}

/** Requests of the bot that belong to no event. Equal ones are one row, with their count. */
export interface Calls {
  readonly kind: "calls";
  readonly call: Timed<ApiEntry>;
  count: number;
  lastAt: string;
  /** True once an equal request succeeded. */
  recovered: boolean;
}

/** A change of the platform, such as a webhook that was switched off. */
export interface Change {
  readonly kind: "change";
  readonly entry: Timed<Extract<TimelineEntry, { kind: "webhook" | "app" | "fault" | "state" }>>;
}

/** One row of the list. */
export type Thing = Story | Calls | Change;

/** Polls that found nothing. */
export interface IdleReads {
  readonly count: number;
  readonly lastAt: string;
}

export interface Overview {
  /** Oldest first. */
  readonly things: readonly Thing[];
  readonly stories: ReadonlyMap<string, Story>;
  readonly idle: IdleReads | undefined;
  /** Bots whose webhook is off. */
  readonly off: ReadonlySet<string>;
  /** Bots whose runs are known. Without them a delivery is all that can be told. */
  readonly reporting: ReadonlySet<string>;
}

/** Makes one thing of all entries about it. */
export function overviewOf(entries: readonly TimelineEntry[]): Overview {
  const things: Thing[] = [];
  const stories = new Map<string, Story>();
  const reporting = new Set<string>();
  const off = new Set<string>();
  /** Rows of failures that the next equal call joins. */
  const open = new Map<string, Calls>();
  let idle: IdleReads | undefined;
  const tell = (id: string | undefined, { at }: TimelineEntry, change: (story: Story) => void) => {
    const story = id === undefined ? undefined : stories.get(id);
    if (story === undefined) return false;
    change(story);
    story.changedAt = at;
    return true;
  };
  for (const entry of entries) {
    if (entry.kind === "event") {
      const story = newStory(entry);
      stories.set(entry.id, story);
      things.push(story);
    } else if (entry.kind === "delivery") {
      for (const id of entry.eventIds) tell(id, entry, ({ deliveries }) => deliveries.push(entry));
    } else if (entry.kind === "run") {
      reporting.add(entry.bot);
      tell(entry.eventId, entry, ({ runs }) => runs.push(entry));
    } else if (entry.kind === "inbox") {
      tell(entry.eventId, entry, (story) => decide(story, entry.change));
    } else if (entry.kind !== "api") {
      if (entry.kind === "webhook" && entry.change === "disabled") off.add(entry.bot);
      if (entry.kind === "webhook" && entry.change === "enabled") off.delete(entry.bot);
      things.push({ kind: "change", entry });
    } else if (entry.eventIds !== undefined && entry.status === 200) {
      for (const id of entry.eventIds) tell(id, entry, markRead);
    } else if (!tell(entry.eventId, entry, ({ calls }) => calls.push(entry))) {
      if (isIdle(entry)) idle = { count: (idle?.count ?? 0) + 1, lastAt: entry.at };
      else addCall(things, open, entry);
    }
    if (entry.kind === "api" && answerOf(entry).tone !== "bad") recover(open, entry);
  }
  return { things, stories, idle, off, reporting };
}

function newStory(event: Timed<EventEntry>): Story {
  const lists = { deliveries: [], runs: [], calls: [] };
  const flags = { read: false, retriedAfter: undefined, discarded: false };
  return { kind: "event", event, ...lists, ...flags, changedAt: event.at };
}

function markRead(story: Story): void {
  story.read = true;
}

function decide(story: Story, change: "retried" | "discarded"): void {
  if (change === "discarded") story.discarded = true;
  else story.retriedAfter = story.runs.length;
}

function isIdle({ method, status }: ApiEntry): boolean {
  return method === "GET" && status === 200;
}

function failureKey({ bot, method, path }: ApiEntry): string {
  return `${bot} ${method} ${path}`;
}

function recover(open: Map<string, Calls>, call: ApiEntry): void {
  const key = failureKey(call);
  const row = open.get(key);
  if (row === undefined) return;
  row.recovered = true;
  open.delete(key);
}

/** A request that fails again and again is one row until it succeeds. */
function addCall(things: Thing[], open: Map<string, Calls>, call: Timed<ApiEntry>): void {
  const key = failureKey(call);
  const before = open.get(key);
  if (before !== undefined && before.call.status === call.status) {
    before.count += 1;
    before.lastAt = call.at;
    return;
  }
  const row: Calls = { kind: "calls", call, count: 1, lastAt: call.at, recovered: false };
  things.push(row);
  if (call.status === null || call.status >= 400) open.set(key, row);
}

/** `bad` is trouble that a developer has to look at; `warn` is trouble that may pass. */
export type Tone = "bad" | "warn" | "plain";

/** Result of an event, a delivery, a run or a request. */
export interface Outcome {
  readonly tone: Tone;
  readonly text: string;
}

/** What is known about the bots. */
export type Bots = Pick<Overview, "reporting" | "off">;

/** Describes what the bot made of an event. */
export function outcomeOf(story: Story, { reporting, off }: Bots): Outcome {
  const { event, deliveries, runs, calls, read } = story;
  const run = runs.at(-1);
  if (story.discarded) return { tone: "plain", text: "Discarded" };
  if (run !== undefined && story.retriedAfter === runs.length) {
    return { tone: "plain", text: "Set to run again" };
  }
  if (run !== undefined) return run.outcome === "done" ? handled(run, calls) : outcomeOfRun(run);
  if (read || deliveries.some(({ error }) => error === undefined)) {
    const isRunning = reporting.has(event.bot);
    const by = read ? "Read by polling" : "Delivered";
    return { tone: "plain", text: isRunning ? "Being handled" : by };
  }
  if (off.has(event.bot)) {
    return { tone: "plain", text: "Webhook off: the bot will find it when it polls" };
  }
  const last = deliveries.at(-1);
  if (last !== undefined) return { tone: "bad", text: `Delivery failed: ${last.error}` };
  const late = event.lateMs === undefined ? "" : `, held back for ${span(event.lateMs)}`;
  return { tone: "plain", text: `Waiting for delivery${late}` };
}

/** In ms. A person who waits for an answer notices it. */
const SLOW_MS = 2_000;

function handled({ ms, attempt }: RunEntry, calls: readonly ApiEntry[]): Outcome {
  const answer = calls.findLast(({ method, text }) => method === "POST" && text !== undefined);
  const tries = attempt > 1 ? ` at attempt ${attempt}` : "";
  const text = answer?.text === undefined ? "Handled" : `Answered “${answer.text}”`;
  const isSlow = ms >= SLOW_MS;
  const took = isSlow || !(tries || answer) ? ` in ${span(ms)}` : "";
  return { tone: isSlow ? "warn" : "plain", text: `${text}${tries}${took}` };
}

/** Describes a run: "Attempt 2 failed: TypeError: …". */
export function outcomeOfRun({ attempt, outcome, error, ms }: RunEntry): Outcome {
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
export function actOf({ type, text }: Pick<EventEntry, "type" | "text">): string {
  const act = acts[type] ?? type;
  const said = text === undefined ? "" : `“${text}”`;
  return [act, said].filter(Boolean).join(": ") || type;
}

const names = { webhook: "Webhook", app: "App", fault: "Fault", state: "State" } as const;

/** Describes a change of the platform: "Webhook disabled: 20 failures in a row". */
export function changeOf({ entry }: Change): string {
  if (entry.kind === "app") return `App of @${entry.bot} ${entry.change}`;
  const detail = entry.kind === "webhook" ? entry.reason : entry.detail;
  return `${names[entry.kind]} ${entry.change}: ${detail}`;
}

/** Describes requests that belong to no event: "GET /events". */
export function callOf({ call }: Calls): string {
  const who = call.doctor === true ? "service-bot doctor: " : "";
  const said = call.text === undefined ? "" : ` “${call.text}”`;
  return `${who}${call.method} ${call.path}${said}`;
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
    const searched = searchTextOf(thing, overview);
    return words.every((word) => searched.includes(word));
  });
}

function searchTextOf(thing: Thing, bots: Bots): string {
  return partsOf(thing, bots).join(" ").toLowerCase();
}

function partsOf(thing: Thing, bots: Bots): readonly string[] {
  if (thing.kind === "change") return [changeOf(thing)];
  if (thing.kind === "calls") return [callOf(thing), thing.call.id, answerOf(thing.call).text];
  const { event, deliveries, calls } = thing;
  const made = calls.flatMap(({ path, created = {} }) => [path, ...Object.values(created)]);
  const places = [event.conversationId ?? "", event.postId ?? ""];
  const ids = [event.id, ...deliveries.map(({ id }) => id), ...calls.map(({ id }) => id)];
  const outcome = outcomeOf(thing, bots);
  const failed = outcome.tone === "bad" ? "failed" : "";
  const who = [`@${event.from}`, `@${event.bot}`];
  return [...who, event.type, actOf(event), outcome.text, failed, ...places, ...ids, ...made];
}
