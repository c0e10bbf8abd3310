import { traceIdOf } from "../core/trace.ts";
import { orderKey } from "../events/id.ts";
import type { LaneOf } from "../events/lane.ts";
import { isOwn } from "../events/own.ts";
import { MAX_DEPTH, parseEvent, textOf } from "../events/parse.ts";
import { isEventType } from "../events/payload.ts";
import type { BatchMessage } from "../observe/channels.ts";
import type { NewEvent, PutResult } from "./inbox.ts";
import { untimedKey } from "./lateness.ts";
import { digest, isLongKey, MAX_KEY_BYTES, shortenKey } from "./stored-text.ts";

const OWN_NAME = "starts with a prefix reserved for the bot's own events";

const TOO_DEEP = `nested more than ${MAX_DEPTH} levels deep`;

/**
 * Converts the elements of `events` into inbox events, sorted by id. An event that cannot be handled becomes a dead
 * letter with the reason. Refusing it would make the sender retry its batch forever.
 *
 * @param texts the JSON of each element, as the sender wrote it
 */
export function readBatch(
  raw: readonly unknown[],
  laneOf: LaneOf,
  texts: readonly string[] = [],
): NewEvent[] {
  return raw
    .map((element, n) => readEvent(element, laneOf, texts[n]))
    .sort((a, b) => (a.ord < b.ord ? -1 : a.ord > b.ord ? 1 : 0));
}

export function batchMessage(
  bot: object | undefined,
  source: BatchMessage["source"],
  events: readonly NewEvent[],
  { stored, duplicates, unusable }: PutResult,
  trace: string,
): BatchMessage {
  return { bot, source, events, stored, duplicates, unusable, trace: traceIdOf(trace) };
}

function readEvent(raw: unknown, laneOf: LaneOf, text: string | undefined): NewEvent {
  const parsed = parseEvent(raw);
  if (!parsed.ok) return unusable(parsed, raw, parsed.reason);
  const { id, type } = parsed.event;
  const body = textOf(raw, text);
  if (body === undefined) return unusable({ id, type }, raw, TOO_DEEP);
  const own = isOwn(id) ? "id" : isOwn(type) ? "type" : undefined;
  if (own !== undefined) return unusable({ id, type }, raw, `${own}: ${OWN_NAME}`);
  const long = isLongKey(id) ? "id" : isLongKey(type) ? "type" : undefined;
  if (long !== undefined) {
    return unusable({ id, type }, raw, `${long}: longer than ${MAX_KEY_BYTES} bytes`);
  }
  const { event } = parsed;
  const ord = isEventType(type) ? orderKey(id) : untimedKey(id);
  return { id, type, lane: shortenKey(laneOf(event)), ord, body, event };
}

function unusable(
  known: { readonly id: string | undefined; readonly type: string | undefined },
  raw: unknown,
  reason: string,
): NewEvent {
  // Hash the event as serialized here. A delivery and the event log may format the same event differently, and the
  // event would get two ids.
  const body = textOf(raw) ?? "";
  // An event without a usable id gets an id from its content, so that duplicates are still detected. It must not keep
  // an id that looks like one of the bot's own, because it would count as a duplicate of that event.
  const isKept = known.id !== undefined && !isLongKey(known.id) && !isOwn(known.id);
  const id = isKept ? known.id : `invalid:${digest(body)}`;
  const type = shortenKey(known.type ?? "invalid");
  return { id, type, lane: "invalid", ord: orderKey(id), body, unusable: reason };
}
