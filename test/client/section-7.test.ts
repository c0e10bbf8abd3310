import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  AccessError,
  type ApiError,
  ContentError,
  Http,
  ImageError,
  LimitError,
  NotFoundError,
  type OutgoingMessage,
  platformCodes,
  type RequestOptions,
  UnavailableError,
  uploadBody,
} from "../faces/client.ts";
import type { PlatformCode } from "../faces/errors.ts";
import { UPLOAD_LIFETIME_MS } from "../faces/platform.ts";
import { image } from "../platform/support/images.ts";
import { rejection } from "./api.ts";
import { type World, world } from "./platform.ts";

/** Section 7 of the platform document: one line here for each row of it, met by a client over HTTP. */

type Family = new (...args: never[]) => ApiError;
type Call = (world: World) => Promise<unknown>;
type Row = readonly [
  status: number,
  code: PlatformCode,
  condition: string,
  family: Family,
  calls: readonly Call[],
];

const png = await image();

const upload =
  (address: string): Call =>
  ({ client }) =>
    client.upload({ url: `https://images.example${address}` });

const send =
  (message: OutgoingMessage, conversation = "c_2"): Call =>
  ({ client }) =>
    client.dms.send(conversation, message);

/** What the client would refuse by itself, sent past its checks: the platform's own answer is understood, too. */
const past =
  (path: string, request: RequestOptions): Call =>
  ({ platform: { url, apiKey } }) =>
    new Http({ baseUrl: url, apiKey, retries: 0 }).request("POST", path, request);

const five = past("/posts", { json: { imageKeys: ["1", "2", "3", "4", "5"] } });
const nothing = past("/dm/conversations/c_2/messages", { json: {} });
const noShape = past("/uploads", { json: { image: "a" } });
const privateAddress = past("/uploads", { json: { url: "https://10.0.0.1/a.png" } });
const overFive = past("/uploads", uploadBody({ data: new Uint8Array(5_242_881), kind: "png" }));

/** The three operations that take images, with what is made ready for them. */
const writes = (prepare: (world: World) => Promise<OutgoingMessage>): Call[] => [
  async (at) => at.client.posts.create(await prepare(at)),
  async (at) => at.client.posts.comment("p_1", await prepare(at)),
  async (at) => at.client.dms.send("c_2", await prepare(at)),
];

const newKey = async ({ client }: World) => (await client.upload(png)).key;

const consumed = async (at: World) => {
  const imageKeys = [await newKey(at)];
  await at.client.posts.create({ imageKeys });
  return { imageKeys };
};

const expired = async (at: World) => {
  const imageKeys = [await newKey(at)];
  at.clock.advance(UPLOAD_LIFETIME_MS);
  return { imageKeys };
};

const ofAnotherApp = async ({ stranger }: World) => ({
  imageKeys: [(await stranger.upload(png)).key],
});

const toGroup: Call = ({ client, platform }) => {
  const { conversationId } = platform.control.createGroup({ members: ["ada", "ben", "bot"] });
  return client.dms.send(conversationId, { text: "hi" });
};

const blocked =
  (block: { by: string; whom?: string }): Call =>
  ({ client, platform }) => {
    platform.control.setBlock(block);
    return client.dms.send("c_2", { text: "hi" });
  };

const usedUp =
  (limits: Parameters<World["platform"]["control"]["setLimits"]>[0], call: Call): Call =>
  (at) => {
    at.platform.control.setLimits(limits);
    return call(at);
  };

const rows: readonly Row[] = [
  [
    400,
    "BLOCKED_HOST",
    "URL unreachable or points to a blocked (internal) address",
    ImageError,
    [upload("/gone"), upload("/moved"), privateAddress],
  ],
  [400, "NOT_IMAGE", "URL does not point to an image", ImageError, [upload("/page")]],
  [
    400,
    "TOO_LARGE",
    "image over 5 MB",
    ImageError,
    [upload("/large"), overFive, ({ client }) => client.upload(Buffer.concat([png], 5_242_881))],
  ],
  [
    400,
    "VALIDATION",
    "type or shape invalid",
    ContentError,
    [
      noShape,
      ({ client }) => client.upload(Buffer.from("<svg/>")),
      ({ client }) => client.events({ since: "x" }),
    ],
  ],
  [
    400,
    "INVALID_IMAGE_KEY",
    "an image key is invalid, expired, consumed or owned by another app",
    ImageError,
    [async () => ({ imageKeys: ["img_x"] }), consumed, expired, ofAnotherApp].flatMap(writes),
  ],
  [
    400,
    "TOO_MANY_IMAGES",
    "more than 4 images",
    ImageError,
    [five, ...writes(async () => ({ images: [png, png, png, png, png] }))],
  ],
  [400, "GROUP_UNSUPPORTED", "the conversation is a group", ContentError, [toGroup]],
  [400, "EMPTY", "neither text nor image", ContentError, [nothing, send({})]],
  [400, "TOO_LONG", "text too long", ContentError, [send({ text: "x".repeat(4_001) })]],
  [
    403,
    "AGENT_SCOPE_MISSING",
    "token lacks the needed write scope",
    AccessError,
    [
      ({ clientWith }) => clientWith("read").upload(png),
      ({ clientWith }) => clientWith("read").dms.send("c_2", { text: "hi" }),
      async ({ clientWith }) => clientWith("read").dms.conversations(),
      async ({ clientWith }) => clientWith("read").dms.messages("c_2"),
      ({ clientWith }) => clientWith("read", "dm").posts.create({ text: "hi" }),
      ({ clientWith }) => clientWith("read", "dm").posts.comment("p_1", { text: "hi" }),
    ],
  ],
  [
    403,
    "BLOCKED",
    "one party has blocked the other",
    AccessError,
    [blocked({ by: "ada" }), blocked({ by: "bot", whom: "ada" })],
  ],
  [
    403,
    // The document does not show the code; this is the local platform's.
    "AGENT_SCOPE_MISSING",
    "token has neither read nor dm, on GET /events",
    AccessError,
    [({ clientWith }) => clientWith("posts:write").events()],
  ],
  [
    404,
    "NOT_FOUND",
    "bot is not a participant, or the conversation does not exist",
    NotFoundError,
    [
      send({ text: "hi" }, "c_1"),
      send({ text: "hi" }, "c_9"),
      async ({ client }) => client.dms.messages("c_1"),
      async ({ client }) => client.dms.messages("c_9"),
    ],
  ],
  [
    429,
    "QUOTA_EXCEEDED",
    "daily image-upload quota used up, or daily DM quota used up",
    LimitError,
    [
      usedUp({ uploadsPerDay: 0 }, ({ client }) => client.upload(png)),
      usedUp({ dmsPerDay: 0 }, send({ text: "hi" })),
    ],
  ],
  [
    503,
    "NOT_CONFIGURED",
    "storage is not configured on the server",
    UnavailableError,
    [
      ({ client, platform }) => {
        platform.control.setStorage({ configured: false });
        return client.upload(png);
      },
    ],
  ],
];

test.each(rows)("%i %s: %s", async (status, code, _condition, family, calls) => {
  for (const call of calls) {
    const error = await rejection(call(await world()));
    expect(error).toBeInstanceOf(family);
    expect(error).toMatchObject({ code, status, platformCode: code, retryable: status >= 429 });
  }
});

test("the table has every code of the section", () => {
  expect([...new Set(rows.map(([, code]) => code))].sort()).toEqual([...platformCodes].sort());
});

test("the catalogue of errors gives each code its status", () => {
  const catalogue = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
  for (const [status, code] of rows) {
    expect(catalogue, code).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status}\\. `, "m"));
  }
});
