import { createHmac } from "node:crypto";
import { sign } from "../../src/signature/signature.ts";
import type { LoadRequest } from "./frame.ts";
import { eventId, type MessageEvent, messageEvent } from "./message.ts";

/** Secret for all webhooks. The part after the prefix is base64, as Standard Webhooks requires. */
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLw";

/** Size of a body with one event, in bytes. */
const BODY_BYTES = 300;

/** The direct messages are spread over this many conversations. */
const CONVERSATIONS = 4_000;

export type FormatName =
  | "service"
  | "github"
  | "telegram"
  | "stripe"
  | "line"
  | "standard"
  | "slack";

/** Creates a signed request with new events. `nth` makes the request unique. */
type Format = (nth: number, events: number) => LoadRequest;

/**
 * Requests in each platform's format, with one event of 300 bytes. In the `service` format, a request has `events`
 * events.
 */
export const formats: Readonly<Record<FormatName, Format>> = {
  service: (nth, events) => {
    const all = Array.from({ length: events }, (_, index) => messageOf(nth * events + index));
    const body = JSON.stringify({ events: all });
    return post("/webhook", body, {
      "x-service-signature": sign(body, SECRET, seconds()),
      "x-service-event-count": String(events),
    });
  },
  github: (nth) => {
    const body = padded({ action: "created", sender: { id: nth, login: "ada" } });
    return post("/api/github/webhooks", body, {
      "x-github-event": "issue_comment",
      "x-github-delivery": `delivery-${nth}`,
      "x-hub-signature-256": `sha256=${mac("hex", body)}`,
    });
  },
  telegram: (nth) => {
    const from = { id: 7, is_bot: false, first_name: "Ada" };
    const message = { message_id: nth, date: seconds(), chat: { id: 7, type: "private" }, from };
    return post("/webhook", padded({ update_id: nth, message }), {
      "x-telegram-bot-api-secret-token": SECRET,
    });
  },
  stripe: (nth) => {
    const body = padded({ id: `evt_${nth}`, object: "event", type: "charge.succeeded" });
    const t = seconds();
    return post("/webhook", body, {
      "stripe-signature": `t=${t},v1=${mac("hex", `${t}.${body}`)}`,
    });
  },
  line: (nth) => {
    const event = { type: "message", webhookEventId: String(nth), timestamp: seconds() };
    const body = padded({ destination: "U1", events: [event] });
    return post("/webhook", body, { "x-line-signature": mac("base64", body) });
  },
  standard: (nth) => {
    const body = padded({ type: "message.created", data: { id: nth } });
    const [id, t] = [`msg_${nth}`, seconds()];
    const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
    const signature = createHmac("sha256", key).update(`${id}.${t}.${body}`).digest("base64");
    return post("/webhook", body, {
      "webhook-id": id,
      "webhook-timestamp": String(t),
      "webhook-signature": `v1,${signature}`,
    });
  },
  slack: (nth) => {
    const event = { type: "app_mention", user: "U1", ts: `${nth}.1`, channel: "C1" };
    const body = padded({ type: "event_callback", team_id: "T1", event_id: `Ev${nth}`, event });
    const t = seconds();
    return post("/slack/events", body, {
      "x-slack-request-timestamp": String(t),
      "x-slack-signature": `v0=${mac("hex", `v0:${t}:${body}`)}`,
    });
  },
};

/** Returns the event for a direct message. A delivery with only this event has {@link BODY_BYTES} bytes. */
export function messageOf(nth: number): MessageEvent {
  const conversation = `c_${String(nth % CONVERSATIONS).padStart(6, "0")}`;
  const event = { id: eventId(nth), conversation };
  const rest = BODY_BYTES - JSON.stringify({ events: [messageEvent(event, "")] }).length;
  return messageEvent(event, "x".repeat(rest));
}

function padded(value: object): string {
  const rest = BODY_BYTES - JSON.stringify({ ...value, text: "" }).length;
  return JSON.stringify({ ...value, text: "x".repeat(rest) });
}

function post(path: string, body: string, headers: Readonly<Record<string, string>>): LoadRequest {
  return {
    method: "POST",
    path,
    headers: { "content-type": "application/json", "user-agent": "Bench/1", ...headers },
    body,
  };
}

function mac(encoding: "hex" | "base64", text: string): string {
  return createHmac("sha256", SECRET).update(text).digest(encoding);
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
