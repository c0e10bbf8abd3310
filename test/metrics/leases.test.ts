import { expect, onTestFinished, test } from "vitest";
import { gate, harness } from "../dispatcher/harness.ts";
import type { Candidacy, Shared } from "../faces/inbox.ts";
import { SharedPeers } from "../faces/poller.ts";
import { ManualClock } from "../faces/testing.ts";
import { listenTo } from "../support/channels.ts";
import { messages } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";

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

test("the lease of the event log is lost to another instance, and not by handing it back", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const { bot, told } = lossSender();
  let answer: Candidacy = { leads: true, term: 7, afterGap: false };
  const shared: Pick<Shared, "lead" | "resign" | "onChange"> = {
    ...{ lead: async () => answer, resign: async () => undefined },
    onChange: () => () => undefined,
  };
  const stop = new AbortController();
  const peers = new SharedPeers({ shared: shared as Shared, clock, log: logSink().log, bot });
  onTestFinished(() => peers.resign());
  await peers.nextTerm(stop.signal);
  answer = { leads: false, expiresInMs: 15_000 };
  await clock.advance(15_000);
  expect(told).toEqual(["log"]);
  answer = { leads: true, term: 8, afterGap: false };
  await peers.nextTerm(stop.signal);
  await peers.resign();
  expect(told).toEqual(["log"]);
});
