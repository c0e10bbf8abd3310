import { describe, expect, test } from "vitest";
import type { InboxAdmin } from "../../src/index.ts";
import { startTestBot } from "../support/world/test-bot.ts";
import {
  type Accepted,
  type Argument,
  methodsOf,
  mistakesOf,
  optionsOf,
} from "../support/wrong-values.ts";

const FILTER: Accepted = {
  type: ["string"],
  lane: ["string"],
  source: [],
  error: ["string"],
  code: ["string"],
  since: ["number"],
  until: ["number"],
  receivedSince: ["number"],
  receivedUntil: ["number"],
  user: ["string"],
};

const PAGE: Accepted = { limit: ["number"], after: ["string"] };

const methods: Readonly<Record<string, (inbox: InboxAdmin) => readonly Argument[]>> = {
  list: (inbox) => [
    { name: "options", accepts: ["object"], call: (value) => inbox.list(value) },
    ...optionsOf({ ...FILTER, ...PAGE, state: [] }, (options) => inbox.list(options)),
  ],
  show: (inbox) => [{ name: "id", accepts: ["string"], call: (value) => inbox.show(value) }],
  retry: (inbox) => [
    { name: "target", accepts: ["string", "object"], call: (value) => inbox.retry(value) },
    ...optionsOf({ ...FILTER, limit: ["number"], state: [] }, (filter) => inbox.retry(filter)),
    { name: "options", accepts: ["object"], call: (value) => inbox.retry({}, value) },
    ...optionsOf({ assume: [], signal: [], onProgress: ["function"] }, (options) => {
      return inbox.retry({}, options);
    }),
  ],
  discard: (inbox) => [
    { name: "target", accepts: ["string", "object"], call: (value) => inbox.discard(value, "why") },
    ...optionsOf({ ...FILTER, limit: ["number"], state: [] }, (filter) => {
      return inbox.discard(filter, "why");
    }),
    { name: "reason", accepts: ["string"], call: (value) => inbox.discard({}, value) },
    { name: "options", accepts: ["object"], call: (value) => inbox.discard({}, "why", value) },
    ...optionsOf({ signal: [], onProgress: ["function"] }, (options) => {
      return inbox.discard({}, "why", options);
    }),
  ],
  targets: (inbox) => [
    { name: "filter", accepts: ["object"], call: (value) => inbox.targets(value) },
    ...optionsOf({ ...FILTER, limit: ["number"], state: [] }, (filter) => inbox.targets(filter)),
  ],
  states: (inbox) => [
    { name: "options", accepts: ["object"], call: (value) => inbox.states(value) },
    ...optionsOf({ ...PAGE, prefix: ["string"] }, (options) => inbox.states(options)),
  ],
  state: (inbox) => [{ name: "key", accepts: ["string"], call: (value) => inbox.state(value) }],
  deleteState: (inbox) => [
    { name: "key", accepts: ["string"], call: (value) => inbox.deleteState(value) },
  ],
  timers: (inbox) => [
    { name: "options", accepts: ["object"], call: (value) => inbox.timers(value) },
    ...optionsOf({ ...PAGE, lane: ["string"], name: ["string"] }, (value) => inbox.timers(value)),
  ],
  makeTimersDue: (inbox) => [
    { name: "timer", accepts: [], call: (value) => inbox.makeTimersDue(value) },
    ...optionsOf({ lane: ["string"], name: ["string"], key: ["string"] }, (timer: object) => {
      return inbox.makeTimersDue({ lane: "a", name: "b", ...timer });
    }),
  ],
};

async function inboxOf(): Promise<InboxAdmin> {
  const under = await startTestBot();
  return under.bot.inbox;
}

test("every method of the inbox is here", async () => {
  const names = methodsOf(Object.getPrototypeOf(await inboxOf()));
  expect([...Object.keys(methods), "stats"].sort()).toEqual(names.sort());
});

describe.each(Object.entries(methods))("inbox.%s refuses a wrong value by name", (_, list) => {
  test("in each place", async () => {
    const inbox = await inboxOf();
    for (const argument of list(inbox)) {
      expect([argument.name, await mistakesOf(argument)]).toEqual([argument.name, []]);
    }
  });
});

test.each([
  ["a list of ids", ["evt_1"]],
  ["a misspelt filter", { tpye: "mention" }],
])("%s does not match every event", async (_, target) => {
  const inbox = await inboxOf();
  const call = inbox.discard(target as object, "why");
  await expect(call).rejects.toMatchObject({ code: "INVALID_OPTION" });
});
