import { expect, test } from "vitest";
import { type World, world } from "../client/platform.ts";
import { platformCodes } from "../faces/client.ts";
import { UPLOAD_LIFETIME_MS } from "../faces/platform.ts";
import { image } from "../platform/support/images.ts";
import { tokenWith } from "../platform/support/platform.ts";
import { call, failureIn } from "./call.ts";
import { overHttp, overStdio } from "./connect.ts";
import { everyScope } from "./every-tool.ts";

/** Section 7 of the platform document, met by tools: one line here for each way into one of its rows. */

type Args = Readonly<Record<string, unknown>>;

/** Makes the platform ready and says what the tool is called with. */
type Prepare = (world: World) => Args | Promise<Args>;

type Row = readonly [
  status: number,
  code: string,
  tools: readonly string[],
  prepare: Prepare,
  remedy: RegExp,
  token?: ((world: World) => string) | undefined,
];

const png = await image();
const dataBase64 = png.toString("base64");

const UPLOAD = ["service_upload_image"];
const SEND = ["service_send_message"];
const WRITES = ["service_create_post", "service_create_comment", ...SEND];

const where: Readonly<Record<string, Args>> = {
  service_create_comment: { postId: "p_1" },
  service_send_message: { conversationId: "c_2" },
};

const fetched = (path: string): Prepare => {
  return () => ({ url: `https://images.example${path}` });
};

const say: Prepare = () => ({ text: "hi there" });

const consumed: Prepare = async ({ client }) => {
  const imageKeys = [(await client.upload(png)).key];
  await client.posts.create({ imageKeys });
  return { imageKeys };
};

const expired: Prepare = async ({ client, clock }) => {
  const imageKeys = [(await client.upload(png)).key];
  clock.advance(UPLOAD_LIFETIME_MS);
  return { imageKeys };
};

const ofAnotherApp: Prepare = async ({ stranger }) => ({
  imageKeys: [(await stranger.upload(png)).key],
});

const toGroup: Prepare = ({ platform }) => ({
  conversationId: platform.control.createGroup({ members: ["ada", "ben", "bot"] }).conversationId,
  text: "hi there",
});

const blocked: Prepare = ({ platform }) => {
  platform.control.setBlock({ by: "ada" });
  return { text: "hi there" };
};

const limited = (
  limits: Parameters<World["platform"]["control"]["setLimits"]>[0],
  args: Args,
): Prepare => {
  return ({ platform }) => {
    platform.control.setLimits(limits);
    return args;
  };
};

const unconfigured: Prepare = ({ platform }) => {
  platform.control.setStorage({ configured: false });
  return { dataBase64 };
};

const only = (scope: "read" | "posts:write") => {
  return ({ platform }: World) => tokenWith(platform, scope);
};

const SCOPES = /Check the scopes of the token in the developer portal/;

const rows: readonly Row[] = [
  [400, "BLOCKED_HOST", UPLOAD, fetched("/gone"), /https address on the public internet/],
  [400, "BLOCKED_HOST", UPLOAD, fetched("/moved"), /without a redirect/],
  [400, "NOT_IMAGE", UPLOAD, fetched("/page"), /the address of the image itself/],
  [400, "TOO_LARGE", UPLOAD, fetched("/large"), /make it smaller/],
  [400, "INVALID_IMAGE_KEY", WRITES, () => ({ imageKeys: ["img_x"] }), /upload again/],
  [400, "INVALID_IMAGE_KEY", WRITES, consumed, /upload again/],
  [400, "INVALID_IMAGE_KEY", WRITES, expired, /upload again/],
  [400, "INVALID_IMAGE_KEY", WRITES, ofAnotherApp, /upload again/],
  [400, "GROUP_UNSUPPORTED", SEND, toGroup, /only conversations of two/],
  [400, "TOO_LONG", WRITES, () => ({ text: "x".repeat(100_000) }), /Shorten the text/],
  [403, "AGENT_SCOPE_MISSING", UPLOAD, () => ({ dataBase64 }), SCOPES, only("read")],
  [403, "AGENT_SCOPE_MISSING", WRITES, say, SCOPES, only("read")],
  [403, "AGENT_SCOPE_MISSING", ["service_list_conversations"], () => ({}), SCOPES, only("read")],
  [
    403,
    "AGENT_SCOPE_MISSING",
    ["service_list_messages"],
    () => ({ conversationId: "c_2" }),
    SCOPES,
    only("read"),
  ],
  [
    // The document does not show the code; this is the local platform's.
    403,
    "AGENT_SCOPE_MISSING",
    ["service_get_events"],
    () => ({}),
    SCOPES,
    only("posts:write"),
  ],
  [403, "BLOCKED", SEND, blocked, /do not try again/],
  [404, "NOT_FOUND", SEND, () => ({ conversationId: "c_1", text: "hi" }), /no part in it/],
  [404, "NOT_FOUND", SEND, () => ({ conversationId: "c_9", text: "hi" }), /no part in it/],
  [404, "NOT_FOUND", ["service_list_messages"], () => ({ conversationId: "c_1" }), /no part in it/],
  [404, "NOT_FOUND", ["service_get_post"], () => ({ postId: "p_99" }), /no such thing/],
  [404, "NOT_FOUND", ["service_list_comments"], () => ({ postId: "p_99" }), /no such thing/],
  [404, "NOT_FOUND", ["service_get_user"], () => ({ username: "nobody" }), /no such thing/],
  [429, "QUOTA_EXCEEDED", UPLOAD, limited({ uploadsPerDay: 0 }, { dataBase64 }), /daily quota/],
  [429, "QUOTA_EXCEEDED", SEND, limited({ dmsPerDay: 0 }, { text: "hi" }), /daily quota/],
  [503, "NOT_CONFIGURED", UPLOAD, unconfigured, /its owner must set up/],
  // What the platform would answer, said without asking it.
  [400, "EMPTY", WRITES, () => ({}), /give a text, an image, or both/],
  [400, "VALIDATION", UPLOAD, () => ({ dataBase64: "aGk=" }), /images are PNG, JPEG/],
  [400, "VALIDATION", ["service_get_events"], () => ({ since: "x" }), /Mend the arguments/],
  [
    400,
    "BLOCKED_HOST",
    UPLOAD,
    () => ({ url: "https://10.0.0.1/a" }),
    /give the bytes of the image/,
  ],
];

test.for(rows)("%i %s of %s", async ([status, code, tools, prepare, remedy, token]) => {
  for (const era of ["legacy", "modern"] as const) {
    for (const name of tools) {
      const at = await world();
      const { url } = at.platform;
      const apiKey = token?.(at) ?? at.platform.apiKey;
      const client = await overHttp({ url, apiKey, scopes: everyScope, era });
      const outcome = await call(client, name, { ...where[name], ...(await prepare(at)) });
      const { message, retryAfterMs, ...failure } = failureIn(outcome);
      const retryable = status >= 429;
      expect(failure, name).toEqual({ code, status, retryable });
      expect(message).toMatch(remedy);
      expect(message.includes("Try again in")).toBe(retryAfterMs !== undefined);
      expect(JSON.stringify(outcome)).not.toContain(apiKey);
    }
  }
});

test("the table has every code of the section but one that is refused here", () => {
  const codes = new Set(rows.map(([, code]) => code));
  // More than 4 keys: see the arguments.
  expect([...codes, "TOO_MANY_IMAGES"].sort()).toEqual([...platformCodes].sort());
});

test("the limit of requests in a minute says when to try again", async () => {
  const { platform } = await world();
  const { url, apiKey } = platform;
  const client = await overHttp({ url, apiKey, scopes: everyScope });
  platform.control.setLimits({ requestsPerMinute: 0 });
  const {
    code,
    status,
    retryAfterMs = 0,
    message,
  } = failureIn(await call(client, "service_get_me"));
  expect([code, status]).toEqual(["RATE_LIMITED", 429]);
  expect(message).toMatch(
    new RegExp(` Try again in ${Math.ceil(retryAfterMs / 1_000)} seconds\\.$`),
  );
});

test("a write whose answer is lost has been carried out, and the text says to look first", async () => {
  for (const name of WRITES) {
    const { platform } = await world();
    const { url, apiKey } = platform;
    const client = await overHttp({ url, apiKey, scopes: everyScope });
    platform.control.setFaults({ api: { mode: "lose-answer", match: "write" } });
    const failure = failureIn(await call(client, name, { text: "hi there", ...where[name] }));
    expect(failure).toMatchObject({ code: "API_UNREACHABLE", retryable: false });
    expect(failure.message).toMatch(/look before you call again, or it may be there twice\.$/);
  }
});

test("over stdio the same", async () => {
  const at = await world();
  const { url, apiKey } = at.platform;
  const client = await overStdio({ url, apiKey, scopes: everyScope });
  const messages = { conversationId: "c_9" };
  expect(failureIn(await call(client, "service_list_messages", messages))).toMatchObject({
    ...{ code: "NOT_FOUND", status: 404, retryable: false },
  });
  at.platform.control.setFaults({ api: { mode: "status", status: 429, retryAfterSeconds: 40 } });
  const limited = await call(client, "service_get_me");
  expect(failureIn(limited)).toMatchObject({ status: 429, retryable: true, retryAfterMs: 40_000 });
  expect(limited.text).toMatch(/ Try again in 40 seconds\.$/);
  // Everybody waits then, and is told until when.
  expect(failureIn(await call(client, "service_get_feed"))).toMatchObject({
    ...{ code: "API_CIRCUIT_OPEN", retryable: true, retryAfterMs: expect.any(Number) },
    message: expect.stringMatching(/it is tried again in \d+ s\.$/),
  });
});
