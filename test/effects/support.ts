import { RunEffects } from "../faces/effects.ts";
import { type AnyEvent, readStoredEvent } from "../faces/events.ts";
import type { StoredState, StoredTimer } from "../faces/inbox.ts";
import { claimOf } from "../support/inbox-events.ts";

export const NOW: number = Date.parse("2026-11-23T09:00:00Z");

const event: AnyEvent = readStoredEvent(
  JSON.stringify({
    id: "evt_1",
    type: "dm.message",
    createdAt: "2026-11-23T08:59:59Z",
    payload: { conversationId: "c_1", from: { username: "ada", name: "Ada" }, excerpt: "hi" },
  }),
);

const claim = claimOf({ id: "evt_1", receivedAt: NOW });

export class Store {
  readonly stored: Record<string, unknown>;
  timerRows: readonly Pick<StoredTimer, "name" | "key">[];
  readonly queries: string[][] = [];
  fails = false;
  now: number = NOW;

  constructor(
    stored: Record<string, unknown> = {},
    timerRows: readonly Pick<StoredTimer, "name" | "key">[] = [],
  ) {
    this.stored = stored;
    this.timerRows = timerRows;
  }

  run(): RunEffects {
    const states = async (keys: readonly string[]): Promise<readonly StoredState[]> => {
      this.queries.push([...keys]);
      if (this.fails) throw new Error("away");
      return keys
        .filter((key) => Object.hasOwn(this.stored, key))
        .map((key) => ({
          key,
          value: JSON.stringify(this.stored[key]),
          version: `v:${key}`,
          updatedAt: 0,
        }));
    };
    const timers = async ({
      name,
      key,
    }: {
      readonly name: string;
      readonly key?: string | undefined;
    }) =>
      this.timerRows
        .filter((row) => row.name === name && (key === undefined || row.key === key))
        .map((row) => ({ ...row, lane: "dm:c_1", dueAt: NOW, eventId: "e", body: "{}" }));
    return new RunEffects({ event, claim, inbox: { states, timers }, now: () => this.now });
  }
}
