import { expect, test } from "vitest";
import type { CallOptions, Client } from "../faces/client.ts";
import { image } from "../platform/support/images.ts";
import { rejection, serve } from "./api.ts";

type Call = (client: Client, options: CallOptions) => PromiseLike<unknown>;

const text = "hi";
const png = await image();

/** Every operation in section 4 of the platform document. */
const operations: readonly [operation: string, call: Call][] = [
  ["GET /me", (client, options) => client.me(options)],
  ["GET /feed", (client, options) => client.feed(options)],
  ["GET /search", (client, options) => client.search({ text }, options)],
  ["GET /users/ada", (client, options) => client.users.get("ada", options)],
  ["GET /posts/p_1", (client, options) => client.posts.get("p_1", options)],
  ["POST /posts", (client, options) => client.posts.create({ text }, options)],
  ["GET /posts/p_1/comments", (client, options) => client.posts.comments("p_1", options)],
  ["POST /posts/p_1/comments", (client, options) => client.posts.comment("p_1", { text }, options)],
  ["GET /dm/conversations", (client, options) => client.dms.conversations(options)],
  ["GET /dm/conversations/c_1/messages", (client, options) => client.dms.messages("c_1", options)],
  [
    "POST /dm/conversations/c_1/messages",
    (client, options) => client.dms.send("c_1", { text }, options),
  ],
  ["GET /events", (client, options) => client.events({}, options)],
  ["POST /uploads", (client, options) => client.upload(png, options)],
];

test("there are 13 operations", () => {
  expect(new Set(operations.map(([operation]) => operation)).size).toBe(13);
});

test.each(operations)(
  "%s that is aborted under way rejects with the reason, and is not repeated",
  async (operation, call) => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { client, calls } = await serve(
      (response) => {
        response.on("close", left.resolve);
        arrived.resolve();
      },
      { retries: 2 },
    );
    const outcome = rejection(Promise.resolve(call(client, { signal: controller.signal })));
    await arrived.promise;
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    // The server sees the abort, so no request stays open.
    await left.promise;
    const asked = calls.map(({ method, url = "" }) => `${method} ${url.split("?")[0]}`);
    expect(asked).toEqual([operation.replace(" ", " /api/v1")]);
  },
);
