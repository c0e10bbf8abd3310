import type { Fetch } from "../client/http.ts";

/** What a bot said. */
export type SentByBot =
  | { readonly kind: "dm"; readonly conversationId: string; readonly text: string }
  | { readonly kind: "comment"; readonly postId: string; readonly text: string };

type Route = (path: readonly string[], body: Readonly<Record<string, unknown>>) => unknown;

/**
 * The platform's API in memory, as far as answering needs it: it takes what the bot says and remembers
 * it. It stands in for `fetch`; no request leaves the process.
 */
export class FakePlatform {
  readonly #sent: (SentByBot & { readonly id: string; readonly createdAt: string })[] = [];
  readonly #now: () => number;

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
    "POST dm/conversations/*/messages": ([, , id], { text }) =>
      this.#say({ kind: "dm", conversationId: String(id), text: String(text ?? "") }),
    "GET posts/*/comments": ([, id]) => page(this.#comments(String(id))),
    "POST posts/*/comments": ([, id], { text }) =>
      this.#say({ kind: "comment", postId: String(id), text: String(text ?? "") }),
  };

  #say(said: SentByBot): unknown {
    const made = { ...said, id: `sent_${this.#sent.length + 1}`, createdAt: this.#date() };
    this.#sent.push(made);
    return made;
  }

  #messages(conversationId: string): unknown[] {
    return this.#sent
      .filter((said) => said.kind === "dm" && said.conversationId === conversationId)
      .map((said) => ({
        ...said,
        fromBot: true,
        authorUsername: "bot",
        replyToId: null,
        images: [],
      }))
      .reverse();
  }

  #comments(postId: string): unknown[] {
    return this.#sent
      .filter((said) => said.kind === "comment" && said.postId === postId)
      .map((said) => ({ ...said, type: "comment", images: [], author: { username: "bot" } }))
      .reverse();
  }

  #date(): string {
    return new Date(this.#now()).toISOString();
  }
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
