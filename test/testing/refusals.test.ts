import { describe, expect, test } from "vitest";
import { rejection } from "../client/api.ts";
import { section7 } from "../contract/section-7.ts";
import { Client, platformCodes } from "../faces/client.ts";
import type { PlatformCode } from "../faces/errors.ts";
import { access, scene } from "./scene.ts";

const text = "hi";
const address = { url: "https://example.com/a.png" };
const send = (client: Client) => client.dms.send("c_1", { text });
const upload = (client: Client) => client.upload(address);
const attach = async (client: Client) =>
  client.posts.create({ imageKeys: [(await upload(client)).key] });

const calls: Readonly<Record<PlatformCode, (client: Client) => Promise<unknown>>> = {
  BLOCKED_HOST: upload,
  NOT_IMAGE: upload,
  TOO_LARGE: upload,
  VALIDATION: upload,
  INVALID_IMAGE_KEY: attach,
  TOO_MANY_IMAGES: attach,
  GROUP_UNSUPPORTED: send,
  EMPTY: send,
  TOO_LONG: send,
  AGENT_SCOPE_MISSING: (client) => client.dms.conversations(),
  BLOCKED: send,
  NOT_FOUND: (client) => client.dms.messages("c_1"),
  QUOTA_EXCEEDED: send,
  NOT_CONFIGURED: upload,
};

describe("a code of section 7", () => {
  test.each(platformCodes)("%s comes once, where it can, with its status", async (code) => {
    const { client, platform } = scene();
    const { status } = section7[code];
    const call = calls[code];
    platform.refuse({ code });
    // The bot also sends these requests by itself, so `refuse` must not affect them.
    await client.me();
    await client.events();
    expect(await rejection(call(client))).toMatchObject({ code, status, local: false });
    expect(platform.sent).toEqual([]);
    // Use a new client, because the previous one pauses its requests after a quota error.
    await call(new Client({ ...access, fetch: platform.fetch }));
  });

  test("of a message passes over the uploads of its images", async () => {
    const { client, platform } = scene();
    platform.refuse({ code: "BLOCKED" });
    const error = await rejection(client.dms.send("c_1", { images: [address] }));
    expect(error).toMatchObject({ code: "BLOCKED" });
    expect(platform.calls.map(({ path }) => path)).toEqual([
      "/uploads",
      "/dm/conversations/c_1/messages",
    ]);
  });
});

test("a path or a method selects the calls; others succeed", async () => {
  const { client, platform } = scene();
  platform.refuse({ code: "NOT_FOUND", path: "/posts/*/comments" });
  platform.refuse({ code: "TOO_LONG", method: "POST", path: "/posts" });
  platform.refuse({ code: "AGENT_SCOPE_MISSING", method: "GET" });
  await send(client);
  expect(await rejection(client.posts.create({ text }))).toMatchObject({ code: "TOO_LONG" });
  expect(await rejection(client.me())).toMatchObject({ code: "AGENT_SCOPE_MISSING" });
  await client.me();
  expect(await rejection(client.posts.comments("p_1"))).toMatchObject({ code: "NOT_FOUND" });
  await client.posts.comment("p_1", { text });
});

test("`times` sets how often, and several refusals come in order", async () => {
  const { client, platform } = scene();
  platform.refuse({ code: "TOO_LONG", times: 2 });
  platform.refuse({ code: "BLOCKED", times: Number.POSITIVE_INFINITY });
  const codes: unknown[] = [];
  for (let i = 0; i < 4; i++) codes.push(await rejection(send(client)));
  expect(codes).toMatchObject(
    ["TOO_LONG", "TOO_LONG", "BLOCKED", "BLOCKED"].map((code) => ({ code })),
  );
});

test("a status, a wait and a code can be set", async () => {
  const { client, platform } = scene();
  platform.refuse({ code: "RATE_LIMITED", status: 429, retryAfterSeconds: 7 });
  expect(await rejection(client.me())).toMatchObject({
    code: "API_ERROR",
    platformCode: "RATE_LIMITED",
    status: 429,
    retryAfterMs: 7_000,
  });
});
