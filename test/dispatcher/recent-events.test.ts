import { expect, test } from "vitest";
import { payloads } from "../events/samples.ts";
import { noteTexts } from "../faces/events.ts";
import type { NewEvent } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import { message } from "../support/inbox-events.ts";
import { gate, harness } from "./harness.ts";

function saying(id: string, excerpt: string): NewEvent {
  const payload = { ...payloads["dm.message"], excerpt };
  const body = JSON.stringify({ id, type: "dm.message", payload, createdAt: "" });
  return { ...message(id, id), body };
}

test("the texts of running events are known, and of those that ended last", async () => {
  const open = gate();
  const { inbox, dispatcher } = harness(({ event }) =>
    event.id === "slow" ? open.pass() : undefined,
  );
  await inbox.put([saying("slow", "while it runs")], "webhook");
  await inbox.put([saying("quick", "after its end")], "webhook");
  await expect.poll(async () => (await inbox.stats()).done).toBe(1);
  expect(dispatcher.textsOf("slow")).toEqual(["while it runs"]);
  expect(dispatcher.textsOf("quick")).toEqual(["after its end"]);
  expect(dispatcher.textsOf(undefined)).toEqual(["while it runs", "after its end"]);
  expect(dispatcher.textsOf("other")).toBeUndefined();
  open.open();
  await dispatcher.idle();
});

test("the texts that handlers got are known, even after the store has read the event back", async () => {
  const inbox = new SqliteInbox({ file: ":memory:" });
  await inbox.put([saying("1", "the begin…")], "webhook");
  const { dispatcher } = harness(({ event }) => noteTexts(event, ["the beginning and the rest"]), {
    inbox,
  });
  await dispatcher.idle();
  expect(dispatcher.textsOf("1")).toEqual(["the begin…", "the beginning and the rest"]);
});

test("the texts of events that ended long ago, and of very long events, are not kept", async () => {
  const { inbox, dispatcher } = harness(() => undefined);
  await inbox.put([saying("first", "hello there")], "webhook");
  await dispatcher.idle();
  expect(dispatcher.textsOf("first")).toEqual(["hello there"]);
  const others = Array.from({ length: 100 }, (_, n) => saying(`e${n}`, `text ${n}`));
  await inbox.put([saying("long", "x".repeat(100_000)), ...others], "webhook");
  await dispatcher.idle();
  expect(dispatcher.textsOf("first")).toBeUndefined();
  expect(dispatcher.textsOf("long")).toBeUndefined();
  expect(dispatcher.textsOf(undefined)).toHaveLength(100);
});
