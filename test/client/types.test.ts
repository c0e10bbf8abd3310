import { describe, expect, expectTypeOf, test } from "vitest";
import {
  ApiError,
  Client,
  type Conversation,
  ImageError,
  type ImageInput,
  type Message,
  NetworkError,
  type Page,
  type PlatformCode,
  type Post,
  type Profile,
  type SearchHit,
  type SentMessage,
  ServiceBotError,
  type Upload,
} from "../../src/client/index.ts";
import { platformCodes } from "../faces/client.ts";

/** `tsc` checks this file. Nothing in it runs. */
declare const client: Client;
const never = (_body: () => unknown) => undefined;

describe("results", () => {
  test("have the fields of the document", () => {
    expectTypeOf<Client["me"]>().returns.resolves.toEqualTypeOf<Profile>();
    expectTypeOf<Client["posts"]["get"]>().returns.resolves.toEqualTypeOf<Post>();
    expectTypeOf<Client["dms"]["send"]>().returns.resolves.toEqualTypeOf<SentMessage>();
    expectTypeOf<Client["upload"]>().returns.resolves.toEqualTypeOf<Upload>();
    expectTypeOf<Message["replyToId"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Conversation["peer"]["avatarUrl"]>().toEqualTypeOf<string | null>();
  });

  test("of listings are pages when awaited, and items when iterated", () => {
    never(async () => {
      expectTypeOf(await client.dms.messages("c_1")).toEqualTypeOf<Page<Message>>();
      expectTypeOf(await client.search({ text: "x" })).toEqualTypeOf<Page<SearchHit>>();
      for await (const post of client.feed()) expectTypeOf(post).toEqualTypeOf<Post>();
      for await (const page of client.dms.conversations().pages())
        expectTypeOf(page).toEqualTypeOf<Page<Conversation>>();
    });
  });

  test("that are not documented are open: every other field is there, and unknown", () => {
    expectTypeOf<Profile["followers"]>().toEqualTypeOf<unknown>();
    expectTypeOf<Post["likes"]>().toEqualTypeOf<unknown>();
    expectTypeOf<Post["id"]>().toEqualTypeOf<string>();
    never(async () => {
      const { followers } = await client.me();
      // @ts-expect-error The type is unknown until it is checked.
      followers.toFixed();
      if (typeof followers === "number") followers.toFixed();
      // @ts-expect-error The username may be missing.
      (await client.me()).username.length;
    });
  });

  test("that are documented have no other fields, and are not to be changed", () => {
    never(async () => {
      const { items } = await client.dms.messages("c_1");
      // @ts-expect-error The field name is misspelt.
      items[0]?.txt;
      // @ts-expect-error The list is read-only.
      items.push();
    });
  });
});

describe("errors", () => {
  /** Compiles only if every code has a case. */
  function remedy(code: PlatformCode): "image" | "words" | "wait" | "person" {
    switch (code) {
      case "BLOCKED_HOST":
      case "NOT_IMAGE":
      case "TOO_LARGE":
      case "INVALID_IMAGE_KEY":
      case "TOO_MANY_IMAGES":
      case "VALIDATION":
        return "image";
      case "EMPTY":
      case "TOO_LONG":
        return "words";
      case "QUOTA_EXCEEDED":
        return "wait";
      case "GROUP_UNSUPPORTED":
      case "AGENT_SCOPE_MISSING":
      case "BLOCKED":
      case "NOT_FOUND":
      case "NOT_CONFIGURED":
        return "person";
      default:
        return code satisfies never;
    }
  }

  test("have codes that a switch can exhaust", () => {
    expect(platformCodes.map(remedy)).toHaveLength(14);
    never((code: PlatformCode = "EMPTY") => {
      if (code === "EMPTY") return;
      // @ts-expect-error Thirteen codes remain.
      code satisfies never;
    });
  });

  test("are narrowed by their class", () => {
    never((error: unknown = undefined) => {
      if (error instanceof ImageError) {
        // @ts-expect-error An ImageError never has a quota code.
        never(() => error.code === "QUOTA_EXCEEDED");
        expectTypeOf(error.status).toEqualTypeOf<number>();
        expectTypeOf(error.requestId).toEqualTypeOf<string | undefined>();
      }
      if (error instanceof ApiError && error.code === "QUOTA_EXCEEDED") {
        expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
      }
      if (error instanceof NetworkError) {
        expectTypeOf(error.sent).toEqualTypeOf<boolean>();
        // @ts-expect-error A NetworkError never has a platform error code.
        never(() => error.code === "EMPTY");
      }
      if (error instanceof ApiError) expectTypeOf(error.code).toEqualTypeOf<ApiError["code"]>();
      // @ts-expect-error There is no such code.
      if (error instanceof ApiError) error.code === "QUOTA_EXCEDED";
      // @ts-expect-error The base class has no status.
      if (error instanceof ServiceBotError) error.status;
    });
  });
});

test("an image may be all of these", () => {
  expectTypeOf<string>().toExtend<ImageInput>();
  expectTypeOf<URL>().toExtend<ImageInput>();
  expectTypeOf<Buffer>().toExtend<ImageInput>();
  expectTypeOf<Blob>().toExtend<ImageInput>();
  expectTypeOf<Upload>().toExtend<ImageInput>();
  expectTypeOf<{ path: string }>().toExtend<ImageInput>();
});

test("what must not compile does not", () => {
  never(() => {
    // @ts-expect-error The API key is missing.
    new Client({ baseUrl: "https://platform.example" });
    // @ts-expect-error A number is not an image.
    void client.upload(5);
    // @ts-expect-error A stream is not an image, because it could be read only once.
    void client.upload(new ReadableStream<Uint8Array>());
    // @ts-expect-error The object has none of the fields of an image.
    void client.upload({ file: "a.png" });
    // @ts-expect-error A message is an object.
    void client.dms.send("c_1", "hi");
    // @ts-expect-error The conversation is missing, because bots cannot start one.
    void client.dms.send({ text: "hi" });
    // @ts-expect-error Image keys are strings.
    void client.posts.create({ imageKeys: [new Uint8Array()] });
    // @ts-expect-error The field name is misspelt.
    void client.posts.create({ txt: "hi" });
    // @ts-expect-error Ids are strings.
    void client.posts.get(5);
    // @ts-expect-error The limit is a number.
    void client.feed({ limit: "5" });
    // @ts-expect-error The search query is missing.
    void client.search({});
    // @ts-expect-error The cursor is an event id, which is a string.
    void client.events({ since: 5 });
  });
});
