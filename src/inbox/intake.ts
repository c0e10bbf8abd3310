import { createHash } from "node:crypto";
import { orderKey } from "../events/id.ts";
import type { LaneOf } from "../events/lane.ts";
import { parseEvent } from "../events/parse.ts";
import type { NewEvent } from "./inbox.ts";

/**
 * Turns the elements of `events`, as they came over the wire, into what the inbox stores, sorted by
 * id. What cannot be handled is not refused, for the sender would repeat the whole batch for ever:
 * it comes out as a dead letter that says what is wrong with it.
 */
export function readBatch(raw: readonly unknown[], laneOf: LaneOf): NewEvent[] {
  return raw
    .map((element) => readEvent(element, laneOf))
    .sort((a, b) => (a.ord < b.ord ? -1 : a.ord > b.ord ? 1 : 0));
}

function readEvent(raw: unknown, laneOf: LaneOf): NewEvent {
  const parsed = parseEvent(raw);
  const body = stringify(raw);
  if (!parsed.ok) return unusable(parsed, body ?? "", parsed.reason);
  const { id, type } = parsed.event;
  if (body === undefined) return unusable({ id, type }, "", "nested too deeply to be stored");
  return { id, type, lane: laneOf(parsed.event), ord: orderKey(id), body };
}

function unusable(
  known: { readonly id: string | undefined; readonly type: string | undefined },
  body: string,
  reason: string,
): NewEvent {
  // Without an id of its own the event gets one from its content, so that repeats are still dropped.
  const id = known.id ?? `invalid:${createHash("sha256").update(body).digest("hex").slice(0, 32)}`;
  const type = known.type ?? "invalid";
  return { id, type, lane: "invalid", ord: orderKey(id), body, unusable: reason };
}

/** `JSON.stringify` recurses and gives up on a hostile depth; `JSON.parse` does not. */
function stringify(raw: unknown): string | undefined {
  try {
    return JSON.stringify(raw);
  } catch {
    return undefined;
  }
}
