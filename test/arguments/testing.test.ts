import { describe, expect, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { ManualClock, TestBot, TestPlatform, testBot } from "../../src/testing/index.ts";
import { startTestBot } from "../support/world/test-bot.ts";
import {
  type Accepted,
  type Argument,
  methodsOf,
  mistakesOf,
  optionsOf,
} from "../support/wrong-values.ts";

const create = (options: object) => new Bot(options);

const ACT: Accepted = {
  from: ["string"],
  postId: ["string"],
  commentId: ["string"],
  images: ["number"],
};

type Under = TestBot<Bot>;

/** The `text` and `options` of a user's action. */
function says(call: (text: never, options?: never) => unknown): Argument[] {
  return [
    { name: "text", accepts: ["string"], call },
    ...acts((options) => call("hi" as never, options)),
  ];
}

function acts(call: (options: never) => unknown): Argument[] {
  return [{ name: "options", accepts: ["object"], call }, ...optionsOf(ACT, call)];
}

const ofBot: Readonly<Record<string, (under: Under) => readonly Argument[]>> = {
  dm: (under) => says((text, options) => under.dm(text, options)),
  mention: (under) => says((text, options) => under.mention(text, options)),
  comment: (under) => says((text, options) => under.comment(text, options)),
  reply: (under) => says((text, options) => under.reply(text, options)),
  quote: (under) => says((text, options) => under.quote(text, options)),
  like: (under) => acts((options) => under.like(options)),
  repost: (under) => acts((options) => under.repost(options)),
  follow: (under) => acts((options) => under.follow(options)),
  event: (under) => [
    { name: "type", accepts: ["string"], call: (value: string) => under.event(value, {}) },
    { name: "payload", accepts: ["object"], call: (value) => under.event("poll.closed", value) },
  ],
  deliver: (under) => [
    { name: "event", accepts: ["object", "array"], call: (value) => under.deliver(value) },
    { name: "options", accepts: ["object"], call: (value) => under.deliver([], value) },
    ...optionsOf({ secret: ["string"], timestamp: ["number"] }, (options) => {
      return under.deliver([], options);
    }),
  ],
  advance: (under) => [
    { name: "by", accepts: ["number", "date"], call: (value) => under.advance(value) },
  ],
  state: (under) => [
    { name: "of", accepts: ["string", "object"], call: (value) => under.state(value) },
    { name: "from", accepts: ["string"], call: (from) => under.state({ from }) },
  ],
  refuse: (under) => [
    { name: "options", accepts: ["object"], call: (value) => under.refuse(value) },
    { name: "code", accepts: ["string"], call: (code) => under.refuse({ code }) },
    ...optionsOf(
      {
        status: [],
        retryAfterSeconds: ["number"],
        method: [],
        path: ["string"],
        times: ["number"],
      },
      (options: object) => under.refuse({ code: "OWN", path: "/none", ...options }),
    ),
  ],
};

async function start(): Promise<Under> {
  const under = await startTestBot((bot) => bot.on("dm.message", () => undefined));
  return under;
}

test("every method of a bot under test is here", () => {
  const without = ["timers", "close"];
  expect([...Object.keys(ofBot), ...without].sort()).toEqual(methodsOf(TestBot.prototype).sort());
});

describe.each(Object.entries(ofBot))("bot.%s refuses a wrong value by name", (_, list) => {
  test("in each place", async () => {
    for (const argument of list(await start())) {
      expect([argument.name, await mistakesOf(argument)]).toEqual([argument.name, []]);
    }
  });
});

const clock = () => new ManualClock(0);
const platform = new TestPlatform();

const others: Readonly<Record<string, readonly Argument[]>> = {
  testBot: [
    { name: "createBot", accepts: ["function"], call: (value) => testBot(value) },
    { name: "options", accepts: ["object"], call: (value) => testBot(create, value).then(close) },
    {
      name: "now",
      accepts: ["string", "number", "date"],
      call: (now) => testBot(create, { now }).then(close),
    },
  ],
  "new ManualClock": [
    { name: "start", accepts: ["number"], call: (value) => new ManualClock(value) },
  ],
  "clock.timer": [
    { name: "ms", accepts: ["number"], call: (value) => clock().timer(value, () => undefined) },
    { name: "fn", accepts: ["function"], call: (value) => clock().timer(1, value) },
    {
      name: "options",
      accepts: ["object"],
      call: (value) => clock().timer(1, () => undefined, value),
    },
  ],
  "clock.advance": [
    { name: "ms", accepts: ["number"], call: (value) => clock().advance(value) },
    { name: "settle", accepts: ["function"], call: (value) => clock().advance(1, value) },
  ],
  "new TestPlatform": [
    { name: "options", accepts: ["object"], call: (value) => new TestPlatform(value) },
    { name: "clock", accepts: [], call: (value) => new TestPlatform({ clock: value }) },
  ],
  "platform.happen": [
    { name: "event", accepts: ["object"], call: (value) => platform.happen(value) },
    ...optionsOf({ id: ["string"], type: ["string"], payload: ["object"] }, (event: object) => {
      return platform.happen({ type: "follow", payload: {}, ...event });
    }),
  ],
  "platform.act": [
    { name: "act", accepts: ["object"], call: (value) => platform.act(value) },
    ...optionsOf({ ...ACT, type: ["string"], text: ["string"] }, (act: object) => {
      return platform.act({ type: "dm.message", ...act });
    }),
    {
      name: "nextId",
      accepts: ["function"],
      call: (value) => platform.act({ type: "dm.message" }, value),
    },
  ],
};

async function close(under: Under): Promise<void> {
  await under.close();
}

test("every method of the other helpers is here", () => {
  const names = [
    ...methodsOf(ManualClock.prototype).map((name) => `clock.${name}`),
    ...methodsOf(TestPlatform.prototype).map((name) => `platform.${name}`),
  ];
  const given = [...Object.keys(others), "clock.now", "platform.refuse", "platform.close"];
  const made = ["testBot", "new ManualClock", "new TestPlatform"];
  expect(given.sort()).toEqual([...names, ...made].sort());
});

describe.each(Object.entries(others))("%s refuses a wrong value by name", (_, list) => {
  test.each(list)("$name", async (argument) => {
    expect(await mistakesOf(argument)).toEqual([]);
  });
});
