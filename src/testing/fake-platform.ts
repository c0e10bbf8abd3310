import type { Fetch } from "../client/http.ts";

interface Content {
  readonly text: string;
  /** Absent when there are none. */
  readonly imageKeys?: readonly string[];
}

/** What a bot said. */
export type SentByBot =
  | ({ readonly kind: "dm"; readonly conversationId: string } & Content)
  | ({ readonly kind: "comment"; readonly postId: string } & Content)
  | ({ readonly kind: "post" } & Content);

type Route = (path: readonly string[], body: Readonly<Record<string, unknown>>) => unknown;

/**
 * The platform's API in memory, as far as answering needs it: it takes what the bot says and remembers
 * it. It stands in for `fetch`; no request leaves the process.
 */
export class FakePlatform {
  readonly #sent: (SentByBot & { readonly id: string; readonly createdAt: string })[] = [];
  readonly #now: () => number;
  #uploads = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Everything the bot has said, in order. */
  get sent(): readonly SentByBot[] {
    return this.#sent.map(({ id: _id, createdAt: _createdAt, ...said }) => said);
  }

  /** Give this to the bot as its `fetch`. */
  readonly fetch: Fetch = async (url, init) => {
    const path = new URL(url).pathname.replace("/api/v1", "");
    const parts = path
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    const route = this.#routes[`${init.method} ${shape(parts)}`];
    if (route === undefined) return reply(404, { error: { code: "NOT_FOUND", message: path } });
    const body: Record<string, unknown> = JSON.parse(String(init.body ?? "{}"));
    return reply(init.method === "POST" ? 201 : 200, route(parts, body));
  };

  readonly #routes: Readonly<Record<string, Route>> = {
    "GET me": () => ({ username: "bot", name: "Bot" }),
    "GET events": () => ({ events: [], cursor: "0" }),
    "GET dm/conversations/*/messages": ([, , id]) => page(this.#messages(String(id))),
    "POST dm/conversations/*/messages": ([, , id], body) =>
      this.#say({ kind: "dm", conversationId: String(id), ...contentOf(body) }),
    "GET posts/*/comments": ([, id]) => page(this.#comments(String(id))),
    "POST posts/*/comments": ([, id], body) =>
      this.#say({ kind: "comment", postId: String(id), ...contentOf(body) }),
    "POST posts": (_path, body) => this.#say({ kind: "post", ...contentOf(body) }),
    "GET feed": () => page(this.#posts()),
    "POST uploads": () => this.#upload(),
  };

  #say(said: SentByBot): unknown {
    const made = { ...said, id: `sent_${this.#sent.length + 1}`, createdAt: this.#date() };
    this.#sent.push(made);
    return made;
  }

  #upload(): unknown {
    this.#uploads += 1;
    const url = `https://platform.test/uploads/${this.#uploads}.png`;
    const key = `key_${this.#uploads}`;
    return { key, url, thumbUrl: url, width: 1, height: 1, bytes: 68 };
  }

  #messages(conversationId: string): unknown[] {
    return this.#sent
      .filter((said) => said.kind === "dm" && said.conversationId === conversationId)
      .map((said) => ({
        ...said,
        fromBot: true,
        authorUsername: "bot",
        replyToId: null,
        images: imagesOf(said),
      }))
      .reverse();
  }

  #posts(): unknown[] {
    return this.#sent
      .filter(({ kind }) => kind === "post")
      .map((said) => written(said))
      .reverse();
  }

  #comments(postId: string): unknown[] {
    return this.#sent
      .filter((said) => said.kind === "comment" && said.postId === postId)
      .map((said) => written(said))
      .reverse();
  }

  #date(): string {
    return new Date(this.#now()).toISOString();
  }
}

function contentOf({ text, imageKeys }: Readonly<Record<string, unknown>>): Content {
  const keys = Array.isArray(imageKeys) && imageKeys.length > 0 ? { imageKeys } : {};
  return { text: typeof text === "string" ? text : "", ...keys };
}

/** A post or a comment as it is read. */
function written(said: SentByBot): unknown {
  return { ...said, type: said.kind, images: imagesOf(said), author: { username: "bot" } };
}

function imagesOf({ imageKeys = [] }: SentByBot): unknown[] {
  return imageKeys.map((key) => ({ url: `https://platform.test/${key}`, width: 1, height: 1 }));
}

/** `dm/conversations/c_1/messages` becomes `dm/conversations/*` + `/messages`. */
function shape(parts: readonly string[]): string {
  const collections = new Set(["conversations", "posts"]);
  return parts
    .map((part, index) => (collections.has(parts[index - 1] ?? "") ? "*" : part))
    .join("/");
}

function page(items: readonly unknown[]): unknown {
  return { items, nextCursor: null };
}

function reply(status: number, body: unknown): Response {
  return Response.json(body, { status });
}
