import { EventEmitter } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { Client } from "../../../src/inbox/postgres/driver.ts";
import { Listener } from "../../../src/inbox/postgres/listener.ts";
import { ManualClock } from "../../../src/testing/manual-clock.ts";

const PID = 7;

/** A connection to nowhere. */
class FakeClient extends EventEmitter implements Client {
  readonly processID = PID;
  async connect(): Promise<void> {}
  async query(): Promise<{ readonly rows: Record<string, unknown>[] }> {
    return { rows: [{ pid: PID }] };
  }
  async end(): Promise<void> {}
}

test("what a process has told itself is no news to it, and what another one tells is", async () => {
  const client = new FakeClient();
  let heard = 0;
  const listener = new Listener({
    database: { schema: "s", client: () => client, end: () => client.end() },
    id: "me",
    clock: new ManualClock(),
    onHeard: () => {
      heard += 1;
    },
  });
  onTestFinished(() => listener.close());
  listener.start();
  while (!listener.listening) await turn();
  client.emit("notification", { payload: "me" });
  expect(heard).toBe(0);
  client.emit("notification", { payload: "another" });
  client.emit("notification", {});
  expect(heard).toBe(2);
});
