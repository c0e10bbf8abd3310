import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listenUntilEnd } from "../support/listen.ts";
import { Changes } from "./changes.ts";

const CHANNEL = "D0001";
const USER = "U0001";
const TEAM = "T0001";

export const SIGNING_SECRET = "slack signing secret";

/** A request to the app: its body, and its headers except the signature. */
interface Delivery {
  readonly type: string;
  readonly body: string;
}

/**
 * The part of Slack's Web API that the bot uses, and the Events API's deliveries. Slack retries an event that was not
 * acknowledged within three seconds: https://docs.slack.dev/apis/events-api/
 */
export class Slack {
  readonly changes: Changes = new Changes();
  readonly seen: string[] = [];
  readonly posts: string[] = [];
  requestUrl = "";
  #expected = 0;
  #next = 1;
  #last: Delivery | undefined;

  /** @returns the URL of a server that closes when the test ends */
  async listen(): Promise<string> {
    const server = createServer((request, response) => void this.#answer(request, response));
    return (await listenUntilEnd(server)).url;
  }

  /** Sends a text from Ada to the app. Slack delivers a command, which begins with a slash, as a form. */
  async say(words: string): Promise<void> {
    const [, command, args = ""] = /^(\/\w+) (.*)$/.exec(words) ?? [];
    await this.#deliver(command === undefined ? this.#event(words) : commandOf(command, args));
  }

  async redeliver(): Promise<void> {
    if (this.#last === undefined) throw new Error("nothing was delivered");
    const retry = { "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" };
    await this.#deliver(this.#last, retry);
  }

  /** Stops waiting for replies from killed handlers, because Slack already has their acknowledgement. */
  forget(): void {
    this.#expected = this.seen.length;
  }

  /** Resolves once each acknowledged delivery has its reply. Each handler replies once. */
  async settled(): Promise<void> {
    await this.changes.until(() => this.seen.length >= this.#expected);
  }

  #event(words: string): Delivery {
    const ts = `${this.#next++}.000001`;
    const event = {
      type: "message",
      channel: CHANNEL,
      channel_type: "im",
      user: USER,
      ts,
      text: words,
    };
    const envelope = { type: "event_callback", team_id: TEAM, event_id: `Ev${ts}`, event };
    return { type: "application/json", body: JSON.stringify(envelope) };
  }

  async #deliver(delivery: Delivery, more: Record<string, string> = {}): Promise<void> {
    this.#last = delivery;
    const { type, body } = delivery;
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const hmac = createHmac("sha256", SIGNING_SECRET).update(`v0:${timestamp}:${body}`);
    const signed = {
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": `v0=${hmac.digest("hex")}`,
    };
    this.#expected += 1;
    const headers = { "content-type": type, ...signed, ...more };
    const response = await fetch(this.requestUrl, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`the app answered ${response.status}`);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = new URLSearchParams(await text(request));
    const method = (request.url ?? "").replace("/api/", "");
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: true, ...this.#call(method, parameters) }));
    this.changes.publish();
  }

  #call(method: string, parameters: URLSearchParams): object {
    if (method === "auth.test") return { user_id: "U0002", bot_id: "B0002", team_id: TEAM };
    const message = parameters.get("text") ?? "";
    const list = parameters.get("channel") === CHANNEL ? this.seen : this.posts;
    if (method === "chat.postMessage") list.push(message);
    if (method === "chat.scheduleMessage") {
      const delayMs = Number(parameters.get("post_at")) * 1_000 - Date.now();
      setTimeout(() => {
        list.push(message);
        // No handler sends this message, so it adds one to the expected number.
        this.#expected += 1;
        this.changes.publish();
      }, delayMs);
    }
    return { ts: `${this.#next++}.000002`, channel: parameters.get("channel") };
  }
}

function commandOf(command: string, args: string): Delivery {
  const fields = { command, text: args, channel_id: CHANNEL, user_id: USER, team_id: TEAM };
  return {
    type: "application/x-www-form-urlencoded",
    body: new URLSearchParams(fields).toString(),
  };
}
