import { expect, test } from "vitest";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { toFetch } from "../faces/receiver.ts";
import { logSink } from "../support/log.ts";
import { apiKey, makeRig } from "./support.ts";

test("an unexpected error of the channel is 503, and is logged", async () => {
  const sink = logSink();
  const inbox = new SqliteInbox({ file: ":memory:" });
  const fail = () => Promise.reject(new TypeError("no list"));
  const schedule = { crons: fail, fireCron: fail, fireTimers: fail };
  const local = { log: sink.log, inbox: inbox.admin, schedule };
  const send = toFetch(makeRig({}, { local }).endpoints);
  const ask = (path: string) =>
    send(
      new Request(`http://bot.test/local/v1/${path}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      }),
    );
  expect((await ask("crons")).status).toBe(503);
  expect(sink.records).toMatchObject([{ level: "error", err: { message: "no list" } }]);
  // A different line already reports that the store is unavailable.
  await inbox.close();
  expect((await ask("timers")).status).toBe(503);
  expect(sink.records).toHaveLength(1);
});
