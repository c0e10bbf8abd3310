import { describe, expect, test } from "vitest";
import { createPlatform, startPlatform } from "../../src/platform/index.ts";
import {
  type Accepted,
  type Argument,
  methodsOf,
  mistakesOf,
  optionsOf,
} from "../support/wrong-values.ts";

const platform = createPlatform();
const { control } = platform;
const { apps, clock, inbox, snapshots } = control;

const PAGE: Accepted = { limit: ["number"], cursor: ["string"] };

function text(name: string, call: (value: never) => unknown): Argument {
  return { name, accepts: ["string"], call };
}

/** An argument with these fields. The call gets `rest` for the other fields. */
function input(
  name: string,
  fields: Accepted,
  call: (value: never) => unknown,
  rest: object = {},
): Argument[] {
  return [
    { name, accepts: ["object"], call },
    ...optionsOf(fields, (given: object) => call({ ...rest, ...given } as never)).map((field) => ({
      ...field,
      within: name,
    })),
  ];
}

const OPTIONS: Accepted = {
  url: ["string"],
  stateFile: [],
  apiKey: ["string"],
  webhookSecret: ["string"],
  controlToken: ["string"],
  fetch: ["function"],
  retryIntervalMs: ["number", "null"],
  disableAfter: ["number", "null"],
  deliveryTimeoutMs: ["number", "null"],
  limits: ["object"],
  clock: [],
  random: ["function"],
  logger: [],
};

const methods: Readonly<Record<string, readonly Argument[]>> = {
  createPlatform: input("options", without(OPTIONS, "stateFile"), async (options) => {
    await createPlatform(options).stop();
  }),
  startPlatform: input(
    "options",
    { host: ["string"], allowHosts: ["array"], port: ["number", "null"], extensions: ["array"] },
    async (options) => await (await startPlatform(options)).stop(),
  ),
  onTimeline: [
    { name: "listener", accepts: ["function"], call: (value) => platform.onTimeline(value)() },
  ],
  waitFor: [
    text("kind", (kind) => platform.waitFor(kind, undefined, { timeoutMs: 0 })),
    {
      name: "fits",
      accepts: ["function"],
      call: (fits) => platform.waitFor("api", fits, { timeoutMs: 0 }),
    },
    ...optionsOf({ after: ["number"], timeoutMs: ["number"] }, (options: object) => {
      return platform.waitFor("api", undefined, { timeoutMs: 0, ...options });
    }),
  ],
  closeWith: [
    { name: "close", accepts: ["function"], call: (value) => createPlatform().closeWith(value) },
  ],
  "control.state": [text("bot", (bot) => control.state(bot))],
  "control.act": input(
    "input",
    {
      ...{ type: ["string"], from: ["string"], to: ["string"], text: ["string"] },
      ...{ images: ["number"], imageKeys: ["array"], conversationId: ["string"] },
      ...{ postId: ["string"], commentId: ["string"], payload: [], count: ["number"] },
    },
    (value) => control.act(value),
    { type: "dm.message", from: "ada" },
  ),
  "control.addImage": [
    { name: "bytes", accepts: [], call: (bytes) => control.addImage(bytes, { from: "ada" }) },
    ...input(
      "input",
      { from: ["string"], contentType: ["string"] },
      (value) => control.addImage(new Uint8Array(), value),
      { from: "ada" },
    ),
  ],
  "control.events": [
    text("since", (since) => control.events(since)),
    text("bot", (bot) => control.events(undefined, bot)),
    { name: "limit", accepts: [], call: (limit) => control.events(undefined, undefined, limit) },
  ],
  "control.event": [
    text("id", (id) => control.event(id)),
    text("bot", (bot) => control.event("timer:a:1", bot)),
  ],
  "control.call": [text("id", (id) => control.call(id))],
  "control.createToken": [
    { name: "scopes", accepts: ["array"], call: (scopes) => control.createToken(scopes) },
    text("bot", (bot) => control.createToken([], bot)),
  ],
  "control.createPerson": input("input", { username: ["string"], name: ["string"] }, (value) => {
    control.createPerson(value);
  }),
  "control.createGroup": input("input", { members: ["array"], text: ["string"] }, (value) => {
    control.createGroup(value);
  }),
  "control.setBlock": input(
    "input",
    { by: ["string"], whom: ["string"], blocked: ["boolean"] },
    (value) => control.setBlock(value),
    { by: "ada" },
  ),
  "control.limitsOf": [text("bot", (bot) => control.limitsOf(bot))],
  "control.setLimits": input("change", { dmsPerDay: ["null", "number"] }, (value) => {
    control.setLimits(value);
  }),
  "control.setStorage": input("change", { configured: ["boolean"] }, (value) => {
    control.setStorage(value);
  }),
  "control.webhookOf": [text("bot", (bot) => control.webhookOf(bot))],
  "control.saveWebhook": [
    ...input(
      "change",
      { url: ["string"], types: ["array"], enabled: ["boolean"], secret: ["string"] },
      (value) => control.saveWebhook(value),
    ),
    text("bot", (bot) => control.saveWebhook({}, bot)),
  ],
  "control.regenerateWebhookSecret": [text("bot", (bot) => control.regenerateWebhookSecret(bot))],
  "control.notifications": [text("bot", (bot) => control.notifications(bot))],
  "control.setFaults": input(
    "change",
    { webhook: ["object"], api: ["object"], events: ["object"] },
    (value) => control.setFaults(value),
  ),
  "control.deliver": input(
    "input",
    { eventIds: ["array"], body: ["string"], times: ["number"] },
    (value) => control.deliver(value),
  ),
  "control.deliveryCommand": input(
    "content",
    { eventIds: ["array"], body: ["string"] },
    (value) => {
      control.deliveryCommand(value);
    },
  ),
  "control.botView": [text("bot", (bot) => control.botView(bot))],
  "control.deliveries": input("input", PAGE, (value) => control.deliveries(value)),
  "control.delivery": [text("id", (id) => control.delivery(id))],
  "control.conversations": input("input", { ...PAGE, of: ["string"] }, (value) => {
    control.conversations(value);
  }),
  "control.messages": [text("conversationId", (id) => control.messages(id))],
  "control.messagesPage": [
    text("conversationId", (id) => control.messagesPage(id)),
    ...input("input", { limit: ["number"], before: ["string"] }, (value) => {
      control.messagesPage("c_1", value);
    }),
  ],
  "control.deleteMessage": [text("messageId", (id) => control.deleteMessage(id))],
  "control.posts": input("input", PAGE, (value) => control.posts(value)),
  "control.post": [text("postId", (id) => control.post(id))],
  "control.comments": [text("postId", (id) => control.comments(id))],
  "apps.create": input("input", { username: ["string"], name: ["string"] }, (value) => {
    apps.create(value);
  }),
  "apps.set": [
    text("username", (bot) => apps.set(bot, { disabled: false })),
    ...input("change", { disabled: ["boolean"] }, (value) => apps.set("bot", value)),
  ],
  "apps.tokens": [text("bot", (bot) => apps.tokens(bot))],
  "apps.createToken": [
    { name: "scopes", accepts: ["array"], call: (scopes) => apps.createToken(scopes) },
    text("username", (bot) => apps.createToken([], bot)),
  ],
  "apps.revokeToken": [text("id", (id) => apps.revokeToken(id))],
  "clock.set": input("change", { now: ["string"], advanceMs: [], frozen: ["boolean"] }, (value) => {
    clock.set(value);
  }),
  "snapshots.take": [text("name", (name) => snapshots.take(name))],
  "snapshots.file": [text("id", (id) => snapshots.file(id))],
  "snapshots.upload": [
    { name: "file", accepts: [], call: (file) => snapshots.upload(file) },
    text("name", (name) => snapshots.upload(new Uint8Array(), name)),
  ],
  "snapshots.restore": [text("id", (id) => snapshots.restore(id))],
  "snapshots.remove": [text("id", (id) => snapshots.remove(id))],
  "inbox.event": [text("id", (id) => inbox.event(id)), text("bot", (bot) => inbox.event("a", bot))],
  "inbox.decide": [
    text("id", (id) => inbox.decide(id, "retry")),
    { name: "decision", accepts: [], call: (decision) => inbox.decide("a", decision) },
    text("bot", (bot) => inbox.decide("a", "retry", bot)),
  ],
  "inbox.states": input("input", { prefix: ["string"], cursor: ["string"] }, (value) => {
    return inbox.states(value);
  }),
  "inbox.timers": input("input", { lane: ["string"], cursor: ["string"] }, (value) => {
    return inbox.timers(value);
  }),
  "inbox.fireTimers": input(
    "input",
    { lane: ["string"], name: ["string"], key: ["string"] },
    (value) => inbox.fireTimers(value),
    { lane: "a", name: "b" },
  ),
  "inbox.crons": [text("bot", (bot) => inbox.crons(bot))],
  "inbox.fireCron": [text("name", (name) => inbox.fireCron(name))],
};

function without(fields: Accepted, name: string): Accepted {
  return Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));
}

/** Methods without arguments, and requests, which fail as `fetch` does. */
const NONE = [
  ...["respond", "stop", "control.reset", "apps.list", "snapshots.list"],
  ...["createPlatform", "startPlatform"],
];

test("every method of a local platform is here", () => {
  const parts = { control, apps, clock, inbox, snapshots };
  const names = Object.entries(parts).flatMap(([name, part]) => {
    const own = Object.getPrototypeOf(part);
    const base = Object.getPrototypeOf(own);
    const all =
      base === Object.prototype ? methodsOf(own) : [...methodsOf(own), ...methodsOf(base)];
    return all.map((method) => `${name}.${method}`);
  });
  const expected = new Set([...names, ...methodsOf(Object.getPrototypeOf(platform)), ...NONE]);
  expect([...new Set([...Object.keys(methods), ...NONE])].sort()).toEqual([...expected].sort());
});

describe.each(Object.entries(methods))("%s refuses a wrong value by name", (_, list) => {
  test.each(list)("$name", async (argument) => {
    expect(await mistakesOf(argument)).toEqual([]);
  });
});
