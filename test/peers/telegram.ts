import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { listenUntilEnd } from "../support/listen.ts";
import { Changes } from "./changes.ts";

const CHAT = { id: 1, type: "private", first_name: "Ada" };

interface Update {
  readonly update_id: number;
  readonly message: object;
}

interface Waiting {
  readonly offset: number;
  answer(body: object): void;
}

/**
 * The part of Telegram's Bot API that the bot uses. An update stays until `getUpdates` is called with a higher offset.
 * If a second poller starts, the first gets a 409: https://core.telegram.org/bots/api#getupdates
 */
export class Telegram {
  readonly changes: Changes = new Changes();
  readonly seen: string[] = [];
  readonly posts: string[] = [];
  polls = 0;
  #updates: Update[] = [];
  #nextId = 1;
  #waiting: Waiting | undefined;

  /** @returns the URL of a server that closes when the test ends */
  async listen(): Promise<string> {
    const server = createServer((request, response) => void this.#answer(request, response));
    return (await listenUntilEnd(server)).url;
  }

  say(text: string): void {
    const update_id = this.#nextId++;
    const command = /^\/\w+/.exec(text)?.[0];
    const entities =
      command === undefined
        ? {}
        : { entities: [{ type: "bot_command", offset: 0, length: command.length }] };
    const message = { message_id: update_id, date: 0, chat: CHAT, from: CHAT, text, ...entities };
    this.#updates.push({ update_id, message });
    this.#serve();
  }

  async settled(): Promise<void> {
    await this.changes.until(() => this.#updates.length === 0 && this.#waiting !== undefined);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const method = /^\/bot[^/]+\/(\w+)$/.exec(request.url ?? "")?.[1] ?? "";
    const body = await json(request).catch(() => ({}));
    const answer = (value: object) => {
      response.writeHead("error_code" in value ? 409 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    if (method === "getUpdates") return this.#poll(body as { offset?: number }, response, answer);
    answer({ ok: true, result: this.#call(method, body as { chat_id?: unknown; text?: string }) });
    this.changes.publish();
  }

  #call(method: string, { chat_id, text = "" }: { chat_id?: unknown; text?: string }): unknown {
    if (method === "getMe")
      return { id: 2, is_bot: true, first_name: "Bot", username: "counting_bot" };
    if (method !== "sendMessage") return true;
    (Number(chat_id) === CHAT.id ? this.seen : this.posts).push(text);
    return { message_id: 1_000 + this.seen.length, date: 0, chat: CHAT, text };
  }

  #poll(
    { offset = 0 }: { offset?: number },
    response: ServerResponse,
    answer: Waiting["answer"],
  ): void {
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
    this.polls += 1;
    this.#waiting?.answer({
      ok: false,
      error_code: 409,
      description: "Conflict: terminated by other getUpdates request",
    });
    const waiting: Waiting = { offset, answer };
    this.#waiting = waiting;
    response.once("close", () => {
      if (this.#waiting === waiting) this.#waiting = undefined;
    });
    this.#serve();
    this.changes.publish();
  }

  #serve(): void {
    if (this.#waiting === undefined || this.#updates.length === 0) return;
    const { answer } = this.#waiting;
    this.#waiting = undefined;
    answer({ ok: true, result: this.#updates });
  }
}
