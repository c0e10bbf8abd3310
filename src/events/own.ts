/**
 * Events of the bot's own: timers that are due, and moments of a cron pattern. They go through the inbox as the
 * platform's events do. Their types and ids begin with `timer:` and `cron:`, which no event of the platform may.
 */
import type { Actor, AnyEvent, Sender } from "./types.ts";

/** The event that set a timer. */
export interface TimerSetter {
  readonly id: string;
  readonly type: string;
  /** ISO 8601, UTC; empty where the platform sent none. */
  readonly createdAt: string;
  /** True if the inbox was restored from a backup, and a run that it does not know may have set the timer, too. */
  readonly inDoubt?: boolean | undefined;
}

/** The place and the person of an event, which its timers share. */
export interface EventPlace {
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
  readonly entityType?: string | undefined;
  readonly entityId?: string | undefined;
  /** The sender of a direct message. */
  readonly from?: Sender | undefined;
  /** The account of any other activity. */
  readonly actor?: Actor | undefined;
}

/** Payload of a timer that is due. It has the place and the person of the event that set it. */
export interface TimerPayload<D = unknown> extends EventPlace {
  readonly name: string;
  readonly key: string;
  /** As JSON keeps it. */
  readonly data: D;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
  readonly setBy: TimerSetter;
  /** Id of the event that caused the first timer of a chain of timers. */
  readonly origin: string;
}

/** Payload of a due moment of a cron pattern. */
export interface CronPayload {
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
}

/** An event of the bot's own, as the inbox stores it. */
export interface OwnEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly ord: string;
  readonly body: string;
}

/** The conversation and the post that a payload names. */
export interface PayloadPlace {
  readonly conversationId?: string;
  readonly postId?: string;
}

/** Returns the place of an event, by its payload. */
export function placeOf(payload: object): PayloadPlace {
  const { conversationId, postId }: Readonly<Record<string, unknown>> = { ...payload };
  return {
    ...(typeof conversationId === "string" ? { conversationId } : {}),
    ...(typeof postId === "string" ? { postId } : {}),
  };
}

const TIMER = "timer:";
const CRON = "cron:";

/** Returns the event type of a timer. */
export function timerType(name: string): string {
  return TIMER + name;
}

/** Returns the event type of a cron pattern, which is its lane as well. */
export function cronType(name: string): string {
  return CRON + name;
}

/** Returns whether a type or an id belongs to an event of the bot's own. */
export function isOwn(typeOrId: string): boolean {
  return typeOrId.startsWith(TIMER) || typeOrId.startsWith(CRON);
}

/** Ends the id of a timer's event, which is random, and that of a cron's, which is a moment. */
const ID_END = /:(?:[^:]*|\d{4}-\d\d-\d\dT[\d:.]+Z)$/;

/** Returns the type of an event of the bot's own by its id. */
export function ownTypeOf(id: string): string {
  return id.replace(ID_END, "");
}

const PLACE: readonly (keyof EventPlace)[] = [
  "conversationId",
  "postId",
  "commentId",
  "entityType",
  "entityId",
  "from",
  "actor",
];

/** Returns the payload of a timer that the handler of `event` sets, without the time at which it is due. */
export function timerPayload(
  event: AnyEvent,
  { name, key, data }: Pick<TimerPayload, "name" | "key" | "data">,
  inDoubt: boolean,
): Omit<TimerPayload, "dueAt"> {
  const { id, type, createdAt } = event;
  // Read by field rather than by type, so that types newer than this version have a place, too.
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const place = PLACE.flatMap((field) =>
    payload[field] === undefined ? [] : [[field, payload[field]]],
  );
  const setBy = { id, type, createdAt, ...(inDoubt ? { inDoubt } : {}) };
  return { name, key, data, setBy, origin: originOf(event), ...Object.fromEntries(place) };
}

/** Returns the id of the event that caused this one: its own, unless it is a timer. */
export function originOf(event: AnyEvent): string {
  if (!event.type.startsWith(TIMER)) return event.id;
  const { origin }: Readonly<Record<string, unknown>> = { ...event.payload };
  return typeof origin === "string" ? origin : event.id;
}

/** Returns the event that set a timer; `undefined` for any other event. */
export function setterOf(event: AnyEvent): TimerSetter | undefined {
  if (!event.type.startsWith(TIMER)) return undefined;
  const { setBy }: Readonly<Record<string, unknown>> = { ...event.payload };
  return setBy as TimerSetter | undefined;
}

/** A timer that is due. */
export interface DueTimer {
  readonly lane: string;
  readonly name: string;
  readonly eventId: string;
  /** In ms since 1970. */
  readonly dueAt: number;
  /** {@link timerPayload} as JSON. */
  readonly body: string;
}

/** Makes the event of a timer that is due, in the lane of the event that set it. */
export function timerEvent({ lane, name, eventId, dueAt, body }: DueTimer): OwnEvent {
  const due = new Date(dueAt).toISOString();
  const payload = { ...JSON.parse(body), dueAt: due };
  return ownEvent({ id: eventId, type: timerType(name), lane, createdAt: due, payload });
}

/** Makes the event of a due moment. Its id is the name and the moment, so that each moment is one event. */
export function cronEvent(name: string, dueAt: number): OwnEvent {
  const due = new Date(dueAt).toISOString();
  const type = cronType(name);
  const payload: CronPayload = { name, dueAt: due };
  return ownEvent({ id: `${type}:${shortTime(due)}`, type, lane: type, createdAt: due, payload });
}

/** Cron moments are whole seconds. */
function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}

interface Fields {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly createdAt: string;
  readonly payload: object;
}

function ownEvent({ id, type, lane, createdAt, payload }: Fields): OwnEvent {
  // Without an order: it comes before what waits in its lane, and is never late.
  return { id, type, lane, ord: "", body: JSON.stringify({ id, type, createdAt, payload }) };
}
