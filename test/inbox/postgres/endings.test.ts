import { expect, test } from "vitest";
import type { Claim } from "../../faces/inbox.ts";
import {
  Backlog,
  LeaseLedger,
  PostgresEndings,
  type Query,
  type SqlStore,
} from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { effects as effectsOf, timer } from "../../support/effects.ts";

const away = new Error("the connection is lost");

/** Answers each statement with the numbers of its rows, except statements that `fails` names. */
class Store implements Pick<SqlStore, "rows" | "run"> {
  readonly transactions: string[][] = [];
  readonly fails: (text: string) => boolean;

  constructor(fails: (text: string) => boolean = () => false) {
    this.fails = fails;
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.transactions.push([text]);
    return this.#answer(text, values) as Row[];
  }

  async run<T>(script: Parameters<SqlStore["run"]>[0]): Promise<T> {
    const transaction: string[] = [];
    this.transactions.push(transaction);
    const running = script();
    let step = running.next([]);
    while (step.done !== true) {
      const { text, values }: Query = step.value;
      transaction.push(text);
      step = running.next(this.#answer(text, values));
    }
    return step.value as T;
  }

  #answer(text: string, [, lanes]: readonly unknown[]): unknown[] {
    if (this.fails(text)) throw away;
    if (!Array.isArray(lanes)) return [];
    return lanes.map((_, nth) => ({ n: nth + 1, id: null }));
  }
}

function endingsOn(store: Store): PostgresEndings {
  const ledger = new LeaseLedger(new ManualClock());
  const backlog = new Backlog(100, async () => 0);
  return new PostgresEndings({ store, owner: "me", ledger, backlog, onLetGo: () => undefined });
}

const claimOf = (id: string): Claim => ({
  ...{ id, type: "dm.message", lane: id, body: "", fence: 1, crashes: 0, receivedAt: 0 },
  ...{ attempt: 1, source: "webhook", late: false, trace: undefined },
});

const isForDeadLetters = (text: string) => text.includes("buried");

test("an outcome that is committed stays one if the next statement of its round fails", async () => {
  const endings = endingsOn(new Store(isForDeadLetters));
  const ended = await Promise.allSettled([
    endings.end(claimOf("a"), {}),
    endings.advance(claimOf("b"), {}),
    endings.end(claimOf("c"), { error: "Error: boom" }),
  ]);
  expect(ended).toMatchObject([
    { status: "fulfilled", value: true },
    { status: "fulfilled", value: { held: true } },
    { status: "rejected", reason: away },
  ]);
});

test("runs whose effects are large end in transactions of their own", async () => {
  const store = new Store();
  const endings = endingsOn(store);
  const large = effectsOf({ timers: [timer("a", 0, { body: "x".repeat(9 * 1024 * 1024) })] });
  const small = effectsOf({ timers: [timer("b", 0)] });
  const all = [large, small, large, small];
  const ended = await Promise.all(
    all.map((effects, nth) => endings.end(claimOf(`${nth}`), { effects })),
  );
  expect(ended).toEqual([true, true, true, true]);
  expect(store.transactions).toHaveLength(2);
});
