import { describe, expect, test } from "vitest";
import { Client } from "../../src/client/index.ts";
import { TestPlatform } from "../../src/testing/index.ts";
import { type Argument, methodsOf, mistakesOf, optionsOf } from "../support/wrong-values.ts";

const platform = new TestPlatform();
const { fetch } = platform;
const required = { baseUrl: "http://platform.test", apiKey: "x" };
const client = new Client({ ...required, fetch, retries: 0 });
const { dms, posts, users } = client;

const post = platform.act({ type: "mention", from: "ada", text: "hi" })[0];
const POST = String(Object(post?.payload).postId);

/** The `message` and `options` of a call that writes. */
function writes(call: (message: never, options?: never) => unknown): Argument[] {
  return [
    { name: "message", accepts: ["object"], call: (value) => call(value) },
    ...optionsOf({ text: ["string"], images: ["array"], imageKeys: ["array"] }, (value) =>
      call(value),
    ),
    { name: "mage", accepts: ["string"], call: (image) => call({ images: [image] } as never) },
    { name: "imageKeys", accepts: ["string"], call: (key) => call({ imageKeys: [key] } as never) },
    ...calls((options) => call({ text: "x" } as never, options)),
  ];
}

function calls(call: (options: never) => unknown): Argument[] {
  return [
    { name: "options", accepts: ["object"], call },
    { name: "signal", accepts: [], call: (signal) => call({ signal } as never) },
  ];
}

function pages(call: (options: never) => unknown): Argument[] {
  return [...calls(call), ...optionsOf({ limit: ["number"], cursor: ["string"] }, call)];
}

const methods: Readonly<Record<string, readonly Argument[]>> = {
  "new Client": [
    { name: "options", accepts: ["object"], call: (value) => new Client(value) },
    ...optionsOf(
      {
        baseUrl: ["string"],
        apiKey: ["string"],
        timeoutMs: ["number"],
        retries: ["number"],
        fetch: ["function"],
        clock: [],
        random: ["function"],
        maxRequestsPerMinute: ["number"],
      },
      (options: object) => new Client({ ...required, ...options }),
    ),
  ],
  me: calls((options) => client.me(options)),
  events: [
    { name: "query", accepts: ["object"], call: (value) => client.events(value) },
    ...optionsOf({ since: ["string"], limit: ["number"] }, (query) => client.events(query)),
    ...calls((options) => client.events({}, options)),
    { name: "purpose", accepts: [], call: (purpose) => client.events({}, { purpose }) },
  ],
  feed: pages((options) => client.feed(options)),
  search: [
    { name: "query", accepts: ["object"], call: (value) => client.search(value) },
    { name: "text", accepts: ["string"], call: (text) => client.search({ text }) },
    {
      name: "tag",
      accepts: ["string", "number", "boolean"],
      call: (tag) => client.search({ text: "x", tag }),
    },
    ...pages((options) => client.search({ text: "x" }, options)),
  ],
  upload: [
    { name: "image", accepts: ["string"], call: (value) => client.upload(value) },
    { name: "image", accepts: ["string"], call: (path) => client.upload({ path }) },
    { name: "image", accepts: ["string"], call: (url) => client.upload({ url }) },
    { name: "image", accepts: ["string"], call: (key) => client.upload({ key }) },
    ...calls((options) => client.upload("https://images.example/a.png", options)),
  ],
  "dms.conversations": pages((options) => dms.conversations(options)),
  "dms.messages": [
    { name: "conversationId", accepts: ["string"], call: (value) => dms.messages(value) },
    ...pages((options) => dms.messages("c_1", options)),
  ],
  "dms.send": [
    {
      name: "conversationId",
      accepts: ["string"],
      call: (value) => dms.send(value, { text: "x" }),
    },
    ...writes((message, options) => dms.send("c_1", message, options)),
  ],
  "posts.get": [
    { name: "postId", accepts: ["string"], call: (value) => posts.get(value) },
    ...calls((options) => posts.get(POST, options)),
  ],
  "posts.create": writes((message, options) => posts.create(message, options)),
  "posts.comments": [
    { name: "postId", accepts: ["string"], call: (value) => posts.comments(value) },
    ...pages((options) => posts.comments(POST, options)),
  ],
  "posts.comment": [
    { name: "postId", accepts: ["string"], call: (value) => posts.comment(value, { text: "x" }) },
    ...writes((message, options) => posts.comment(POST, message, options)),
  ],
  "users.get": [
    { name: "username", accepts: ["string"], call: (value) => users.get(value) },
    ...calls((options) => users.get("ada", options)),
  ],
};

/** Methods without arguments, and methods for the bot itself. */
const NONE = ["platformNow", "now", "divideBudget", "syncClock"];

test("every method of a client is here", () => {
  const names = [
    ...methodsOf(Client.prototype),
    ...Object.entries({ dms, posts, users }).flatMap(([name, part]) =>
      methodsOf(Object.getPrototypeOf(part)).map((method) => `${name}.${method}`),
    ),
  ];
  expect([...Object.keys(methods), ...NONE].sort()).toEqual(["new Client", ...names].sort());
});

describe.each(Object.entries(methods))("%s refuses a wrong value by name", (_, list) => {
  test.each(list)("$name", async (argument) => {
    expect(await mistakesOf(argument)).toEqual([]);
  });
});
