/**
 * The bot's own events: due timers and cron ticks. They pass through the inbox like the platform's events. Their types
 * and ids begin with `timer:` and `cron:`, which are reserved.
 */
import { copiedFields } from "./payload.ts";
import type { AnyEvent, CronPayload, TimerPayload, TimerSetter } from "./types.ts";

/** One of the bot's own events, as the inbox stores it. */
export interface OwnEvent {
  readonly id: string;
  readonly type: string;
  readonly lane: string;
  readonly ord: string;
  readonly body: string;
}

export interface PayloadPlace {
  readonly conversationId?: string;
  readonly postId?: string;
}

export function placeOf(payload: object): PayloadPlace {
  const { conversationId, postId }: Readonly<Record<string, unknown>> = { ...payload };
  return {
    ...(typeof conversationId === "string" ? { conversationId } : {}),
    ...(typeof postId === "string" ? { postId } : {}),
  };
}

const TIMER = "timer:";
const CRON = "cron:";

export function timerType(name: string): string {
  return TIMER + name;
}

/** Returns a cron job's event type, which is also its lane. */
export function cronType(name: string): string {
  return CRON + name;
}

/** Returns whether a type or an id belongs to one of the bot's own events. */
export function isOwn(typeOrId: string): boolean {
  return typeOrId.startsWith(TIMER) || typeOrId.startsWith(CRON);
}

/** Suffix of a cron job's event id: the tick's time. */
const TICK = /:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

/** Suffix of a timer's event id. */
const RANDOM = /:[^:]*$/;

export function ownTypeOf(id: string): string {
  return id.replace(TICK.test(id) ? TICK : RANDOM, "");
}

export function timerPayload(
  event: AnyEvent,
  { name, key, data }: Pick<TimerPayload, "name" | "key" | "data">,
  inDoubt: boolean,
): Omit<TimerPayload, "dueAt"> {
  const { id, type, createdAt } = event;
  // Read by field rather than by type, so that types newer than this version are covered too.
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const place = copiedFields.flatMap((field) =>
    payload[field] === undefined ? [] : [[field, payload[field]]],
  );
  const setBy = { id, type, createdAt, ...(inDoubt ? { inDoubt } : {}) };
  return { name, key, data, setBy, origin: originOf(event), ...Object.fromEntries(place) };
}

/** Returns the id of the event that started a chain of timers, or the event's own id if it is not a timer. */
export function originOf(event: AnyEvent): string {
  if (!event.type.startsWith(TIMER)) return event.id;
  const { origin }: Readonly<Record<string, unknown>> = { ...event.payload };
  return typeof origin === "string" ? origin : event.id;
}

export function setterOf(event: AnyEvent): TimerSetter | undefined {
  if (!event.type.startsWith(TIMER)) return undefined;
  const { setBy }: Readonly<Record<string, unknown>> = { ...event.payload };
  return setBy as TimerSetter | undefined;
}

export interface DueTimer {
  readonly lane: string;
  readonly name: string;
  readonly eventId: string;
  /** In ms since 1970. */
  readonly dueAt: number;
  /** JSON of {@link timerPayload}. */
  readonly body: string;
}

export function timerEvent({ lane, name, eventId, dueAt, body }: DueTimer): OwnEvent {
  const due = new Date(dueAt).toISOString();
  const payload = { ...JSON.parse(body), dueAt: due };
  return ownEvent({ id: eventId, type: timerType(name), lane, createdAt: due, payload });
}

/**
 * Builds the event for a cron tick. The id consists of the name and the tick's time, so that each tick becomes only one
 * event.
 */
export function cronEvent(name: string, dueAt: number): OwnEvent {
  const due = new Date(dueAt).toISOString();
  const type = cronType(name);
  const payload: CronPayload = { name, dueAt: due };
  return ownEvent({ id: `${type}:${shortTime(due)}`, type, lane: type, createdAt: due, payload });
}

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
  // Without an order key, the event sorts first in its lane and never counts as late.
  return { id, type, lane, ord: "", body: JSON.stringify({ id, type, createdAt, payload }) };
}
