import type { Counters } from "../bot/state-and-time.ts";
import type { States } from "./counters.ts";
import type { OwnEvent } from "./timers.ts";

export interface Layer {
  readonly states: States;
  readonly timers: readonly string[];
  readonly ownEvents: readonly OwnEvent[];
}

export type ReadRows = <Row>(sql: string) => Promise<readonly Row[]>;

const STATES = "SELECT key, value FROM state";
const TIMERS = "SELECT key FROM timer";
const OWN_EVENTS = `SELECT id, type, state, body, received_at AS "receivedAt" FROM event
WHERE type LIKE 'timer:%' OR type LIKE 'cron:%' ORDER BY seq`;

/** Both stores use the same column names. */
export async function readLayer(read: ReadRows): Promise<Layer> {
  const states = await read<{ readonly key: string; readonly value: string }>(STATES);
  const timers = await read<{ readonly key: string }>(TIMERS);
  const events = await read<Omit<OwnEvent, "dueAt" | "number"> & { readonly body: string }>(
    OWN_EVENTS,
  );
  return {
    states: new Map(states.map(({ key, value }): [string, Counters] => [key, JSON.parse(value)])),
    timers: timers.map(({ key }) => key),
    ownEvents: events.map(({ body, ...event }) => ({ ...event, ...dueOf(body) })),
  };
}

function dueOf(body: string): Pick<OwnEvent, "dueAt" | "number"> {
  const { payload }: Body = JSON.parse(body);
  return { dueAt: Date.parse(payload.dueAt), number: payload.data?.number };
}

interface Body {
  readonly payload: { readonly dueAt: string; readonly data?: { readonly number: number } };
}
