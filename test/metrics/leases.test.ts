import { expect, test } from "vitest";
import { gate, harness } from "../dispatcher/harness.ts";
import { listenTo } from "../support/channels.ts";
import { messages } from "../support/inbox-events.ts";

function lossSender(): { readonly bot: object; readonly told: string[] } {
  const told: string[] = [];
  const bot = {};
  listenTo(bot, {
    "lease-lost": ({ what }) => void told.push(what),
    run: ({ type, outcome }) => void told.push(`${type} ${outcome}`),
  });
  return { bot, told };
}

test("a run whose lease another instance has is reported as lost", async () => {
  const { bot, told } = lossSender();
  const long = gate();
  const { inbox, clock, dispatcher } = harness(() => long.pass(), { bot });
  await inbox.put(messages("1"), "webhook");
  await long.entered;
  inbox.extend = async () => [];
  await clock.advance(10_000);
  long.open();
  await clock.advance(1_000);
  await dispatcher.idle();
  expect(told.slice(0, 2)).toEqual(["dm.message lost", "run"]);
});

test("so is a run whose result the store refuses, under its own label", async () => {
  const { bot, told } = lossSender();
  const { inbox, dispatcher } = harness(() => undefined, { bot });
  inbox.advance = async () => ({ held: false });
  await inbox.put(messages("1"), "webhook");
  await dispatcher.idle();
  expect(told).toEqual(["dm.message lost", "result"]);
});
