import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { gate } from "../../dispatcher/harness.ts";
import {
  type Client,
  Database,
  Listener,
  type ListenerOptions,
  loadDriver,
} from "../../faces/inbox-postgres.ts";
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

const noSessions = {
  look: async () => undefined,
  lost: async () => undefined,
  register: async () => undefined,
};

const rest = { id: "me", sessions: noSessions, onReconnected: () => undefined };

function listenOn(client: FakeClient, options: Partial<ListenerOptions> = {}): Listener {
  const listener = new Listener({
    database: {
      ...{ schema: "s", client: () => client, end: () => client.end() },
      cutSoon: () => () => undefined,
    },
    ...{ ...rest, clock: new ManualClock(), onNotified: () => undefined },
    ...options,
  });
  onTestFinished(() => listener.close());
  listener.start();
  return listener;
}

test("a process ignores its own notifications, and receives those of others", async () => {
  const client = new FakeClient();
  let heard = 0;
  const onNotified = () => {
    heard += 1;
  };
  const listener = listenOn(client, { onNotified });
  while (!listener.listening) await turn();
  client.emit("notification", { payload: "me" });
  expect(heard).toBe(0);
  client.emit("notification", { payload: "another" });
  client.emit("notification", {});
  expect(heard).toBe(2);
});

describe("a look at the other sessions that fails", () => {
  async function failing(error: Error) {
    const client = new FakeClient();
    const clock = new ManualClock();
    let looks = 0;
    const look = async () => {
      looks += 1;
      throw error;
    };
    const listener = listenOn(client, { clock, sessions: { ...noSessions, look } });
    while (looks === 0) await turn();
    await clock.advance(1_000);
    return { listener, client, looks };
  }

  test("because of the server's tables does not end the session", async () => {
    const { listener, client, looks } = await failing(
      Object.assign(new Error("no such column"), { code: "42703" }),
    );
    expect(listener.listening).toBe(true);
    expect(client.done).not.toContain("end");
    expect(looks).toBe(2);
  });

  test("because there is no answer ends it, and another one begins", async () => {
    const { client } = await failing(new Error("Query read timeout"));
    expect(client.done.filter((what) => what === "connect").length).toBeGreaterThan(1);
  });
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
    const listener = new Listener({ ...rest, database, clock, onNotified: () => undefined });
    listener.start();
    while (proxy.made < 1) await turn();
    await listener.close();
  });
});
