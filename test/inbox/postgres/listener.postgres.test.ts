import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { gate } from "../../dispatcher/harness.ts";
import { type Client, Database, Listener, loadDriver } from "../../faces/inbox-postgres.ts";
import { ManualClock } from "../../faces/testing.ts";
import { emptyPlace, through } from "../../support/postgres/open.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";

const PID = 7;

class FakeClient extends EventEmitter implements Client {
  readonly processID = PID;
  readonly done: string[] = [];
  before: (what: string) => Promise<void> = async () => undefined;
  async connect(): Promise<void> {
    await this.#do("connect");
  }
  async query(text: string): Promise<{ readonly rows: Record<string, unknown>[] }> {
    await this.#do(text);
    return { rows: [{ pid: PID }] };
  }
  async end(): Promise<void> {
    this.done.push("end");
  }
  async #do(what: string): Promise<void> {
    await this.before(what);
    this.done.push(what);
  }
}

function listenOn(client: FakeClient, onNotified: () => void = () => undefined): Listener {
  const listener = new Listener({
    database: {
      ...{ schema: "s", client: () => client, end: () => client.end() },
      cutSoon: () => () => undefined,
    },
    ...{ id: "me", clock: new ManualClock(), onNotified },
  });
  onTestFinished(() => listener.close());
  listener.start();
  return listener;
}

test("a process ignores its own notifications, and receives those of others", async () => {
  const client = new FakeClient();
  let heard = 0;
  const listener = listenOn(client, () => {
    heard += 1;
  });
  while (!listener.listening) await turn();
  client.emit("notification", { payload: "me" });
  expect(heard).toBe(0);
  client.emit("notification", { payload: "another" });
  client.emit("notification", {});
  expect(heard).toBe(2);
});

describe("one that is closed while its connection is made", () => {
  const steps = ["connect", "pg_backend_pid", "LISTEN", "pg_advisory_lock_shared"];

  test.each(steps)("does nothing more on it than %s, and is gone then", async (step) => {
    const client = new FakeClient();
    const [reached, answer] = [gate(), gate()];
    client.before = async (what) => {
      if (!what.includes(step)) return;
      reached.open();
      await answer.pass();
    };
    const listener = listenOn(client);
    await reached.pass();
    const closing = listener.close();
    answer.open();
    await closing;
    expect(client.done.slice(-2)).toEqual([expect.stringContaining(step), "end"]);
  });

  test("does not wait for a server that does not answer", async () => {
    const place = await emptyPlace();
    const proxy = await TcpProxy.to(Number(new URL(place.url).port));
    proxy.freeze();
    const options = { ...through(place, proxy), timeoutMs: 600_000, driver: await loadDriver() };
    const database = new Database(options);
    const clock = new ManualClock();
    const listener = new Listener({ database, clock, id: "me", onNotified: () => undefined });
    listener.start();
    while (proxy.made < 1) await turn();
    await listener.close();
  });
});
