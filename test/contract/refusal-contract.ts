import { expect } from "vitest";
import type { PlatformCode } from "../faces/errors.ts";
import { control, write } from "../platform/conformance/http.ts";
import { rule, ruleOfDownloads } from "../platform/conformance/rule.ts";
import type { RuleId } from "../platform/conformance/rules.ts";
import {
  advance,
  conversationOfOthers,
  conversationWith,
  groupWithBot,
  HOUR,
  messagesOf,
  newKeys,
  newPost,
  newUpload,
  rawBytes,
  setLimits,
  tokenOfOtherApp,
  tokenWith,
} from "../platform/conformance/setup.ts";
import type { Respond, World } from "../platform/conformance/world.ts";
import { image, imageOf } from "../platform/support/images.ts";
import {
  type Attempt,
  createComment,
  createPost,
  listConversations,
  listMessages,
  readEvents,
  sendMessage,
  uploadBody,
  uploadFormOf,
  uploadFrom,
  uploadOf,
} from "./attempt.ts";
import { type CodeFacts, section7 } from "./section-7.ts";

/** A way to cause an error from section 7 of the platform document. */
interface Refusal {
  readonly code: PlatformCode;
  readonly attempts: (world: World) => Promise<readonly Attempt[]>;
  /** Serves the URLs that the platform downloads images from. */
  readonly internet?: Respond;
}

/** Facts that every layer must report about a refusal. */
export interface Refused extends CodeFacts {
  readonly code: PlatformCode;
  readonly retryable: boolean;
}

export type ExpectRefused = (world: World, attempt: Attempt, refused: Refused) => Promise<void>;

const OVER_5_MB = 5 * 1024 * 1024 + 1;

const png = await image();
const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>');
const hi = { text: "hi" };

const internet: Respond = (response, path) => {
  if (path === "/large") response.end(Buffer.alloc(OVER_5_MB));
  else if (path === "/missing") response.writeHead(404).end();
  else response.setHeader("content-type", "text/html").end("<html></html>");
};

async function writesWith(world: World, imageKeys: string[]): Promise<Attempt[]> {
  const content = { text: "look", imageKeys };
  const { id } = await newPost(world);
  const conversation = await conversationWith(world);
  return [createPost(content), createComment(id, content), sendMessage(conversation, content)];
}

async function blockedBy(world: World, by: string, whom: string): Promise<Attempt[]> {
  const id = await conversationWith(world);
  await control(world, "PUT", "/blocks", { by, whom });
  return [sendMessage(id, hi)];
}

/** Covers every row in section 7 of the platform document, on every endpoint that the row names. */
export const refusals: Readonly<Record<Extract<RuleId, `7.${string}`>, Refusal>> = {
  "7.BLOCKED_HOST.unreachable": {
    code: "BLOCKED_HOST",
    // Names below .example do not resolve (RFC 2606).
    attempts: async () => [uploadFrom("https://nowhere.example/image.png")],
  },
  "7.BLOCKED_HOST.internal": {
    code: "BLOCKED_HOST",
    attempts: async () => [uploadFrom("https://192.168.1.1/image.png")],
  },
  "7.NOT_IMAGE": {
    code: "NOT_IMAGE",
    internet,
    attempts: async () => [
      uploadFrom("https://images.example/page"),
      uploadFrom("https://images.example/missing"),
    ],
  },
  "7.TOO_LARGE": {
    code: "TOO_LARGE",
    internet,
    attempts: async () => {
      const bytes = await imageOf(OVER_5_MB);
      return [uploadFrom("https://images.example/large"), uploadOf(bytes), uploadFormOf(bytes)];
    },
  },
  "7.VALIDATION.type": {
    code: "VALIDATION",
    attempts: async () => [
      uploadOf(svg),
      uploadBody(rawBytes(svg, "image/svg+xml")),
      uploadFormOf(svg),
    ],
  },
  "7.VALIDATION.shape": {
    code: "VALIDATION",
    attempts: async () => {
      const { dataBase64 } = rawBytes(png);
      const bodies = [{}, [], "url", { url: 5 }, { image: "x" }, { dataBase64, url: "x" }];
      return bodies.map(uploadBody);
    },
  },
  "7.INVALID_IMAGE_KEY.invalid": {
    code: "INVALID_IMAGE_KEY",
    attempts: (world) => writesWith(world, ["img_never_issued"]),
  },
  "7.INVALID_IMAGE_KEY.expired": {
    code: "INVALID_IMAGE_KEY",
    attempts: async (world) => {
      const keys = await newKeys(world, 1);
      await advance(world, HOUR);
      return await writesWith(world, keys);
    },
  },
  "7.INVALID_IMAGE_KEY.consumed": {
    code: "INVALID_IMAGE_KEY",
    attempts: async (world) => {
      const imageKeys = await newKeys(world, 1);
      await newPost(world, { imageKeys });
      return await writesWith(world, imageKeys);
    },
  },
  "7.INVALID_IMAGE_KEY.other-app": {
    code: "INVALID_IMAGE_KEY",
    attempts: async (world) => {
      const { key } = await newUpload(world, await tokenOfOtherApp(world));
      return await writesWith(world, [key]);
    },
  },
  "7.TOO_MANY_IMAGES": {
    code: "TOO_MANY_IMAGES",
    attempts: async (world) => {
      const writes = await writesWith(world, await newKeys(world, 5));
      return writes.map((write) => ({ ...write, refusedBySchema: true }));
    },
  },
  "7.GROUP_UNSUPPORTED": {
    code: "GROUP_UNSUPPORTED",
    attempts: async (world) => [sendMessage(await groupWithBot(world), hi)],
  },
  "7.EMPTY": {
    code: "EMPTY",
    attempts: async (world) => {
      const id = await conversationWith(world);
      const empty = [{}, { text: "" }, { imageKeys: [] }, { text: "", imageKeys: [] }];
      return empty.map((content) => sendMessage(id, content));
    },
  },
  "7.TOO_LONG": {
    code: "TOO_LONG",
    attempts: async (world) => [
      sendMessage(await conversationWith(world), { text: "x".repeat(100_000) }),
    ],
  },
  "7.AGENT_SCOPE_MISSING.upload": {
    code: "AGENT_SCOPE_MISSING",
    attempts: async (world) => [uploadOf(png, await tokenWith(world, "read"))],
  },
  "7.AGENT_SCOPE_MISSING.dm": {
    code: "AGENT_SCOPE_MISSING",
    attempts: async (world) => {
      const id = await conversationWith(world);
      const token = await tokenWith(world, "read", "posts:write", "comments:write");
      return [listConversations(token), listMessages(id, token), sendMessage(id, hi, token)];
    },
  },
  "7.BLOCKED.by-person": { code: "BLOCKED", attempts: (world) => blockedBy(world, "ada", "bot") },
  "7.BLOCKED.by-bot": { code: "BLOCKED", attempts: (world) => blockedBy(world, "bot", "ada") },
  // The platform document does not mention this code. The local platform defines it.
  "7.events": {
    code: "AGENT_SCOPE_MISSING",
    attempts: async (world) => [readEvents(await tokenWith(world, "posts:write"))],
  },
  "7.NOT_FOUND.outsider": {
    code: "NOT_FOUND",
    attempts: async (world) => {
      const id = await conversationOfOthers(world);
      return [listMessages(id), sendMessage(id, hi)];
    },
  },
  "7.NOT_FOUND.nothing": {
    code: "NOT_FOUND",
    attempts: async () =>
      ["c_999999", "nonsense"].flatMap((id) => [listMessages(id), sendMessage(id, hi)]),
  },
  "7.QUOTA_EXCEEDED.uploads": {
    code: "QUOTA_EXCEEDED",
    attempts: async (world) => {
      await setLimits(world, { uploadsPerDay: 2 });
      await newKeys(world, 2);
      return [uploadOf(png)];
    },
  },
  "7.QUOTA_EXCEEDED.dms": {
    code: "QUOTA_EXCEEDED",
    attempts: async (world) => {
      await setLimits(world, { dmsPerDay: 2 });
      const id = await conversationWith(world);
      for (const text of ["one", "two"]) await write(world, messagesOf(id), { text });
      return [sendMessage(id, hi)];
    },
  },
  "7.NOT_CONFIGURED": {
    code: "NOT_CONFIGURED",
    attempts: async (world) => {
      await control(world, "PUT", "/storage", { configured: false });
      return [uploadOf(png)];
    },
  },
};

/**
 * Tests every refusal in section 7 through one layer: the platform, the client or the tools. A rejected request must
 * not change the platform's state.
 */
export function refusalContract(expectRefused: ExpectRefused): void {
  for (const [id, { code, attempts, internet }] of Object.entries(refusals)) {
    const refused = { code, ...section7[code], retryable: section7[code].status >= 429 };
    const show = async (world: World) => {
      const prepared = await attempts(world);
      const before = await contents(world);
      for (const attempt of prepared) await expectRefused(world, attempt, refused);
      expect(await contents(world)).toEqual(before);
    };
    if (internet === undefined) rule(id as keyof typeof refusals, show);
    else ruleOfDownloads(id as keyof typeof refusals, internet, show);
  }
}

async function contents(world: World): Promise<readonly unknown[]> {
  return await Promise.all([
    control(world, "GET", "/posts"),
    control(world, "GET", "/conversations"),
  ]);
}
