import { messageEvent } from "./message.ts";

const CONVERSATIONS = 4_000;

/** Makes the event 300 bytes long. */
const TEXT = "hello, is anybody there? ".repeat(5).trim();

/** The number in the id that {@link deliveryFrame} gives an event. */
export function numberOf(id: string): number {
  return Number(id.slice("evt_".length));
}

/** A delivery of one event of about 300 bytes, as the platform sends it, with all bytes of the request. */
export function deliveryFrame(url: URL, number: number, sign: (body: string) => string): Buffer {
  const id = `evt_${String(number).padStart(12, "0")}`;
  const event = messageEvent({ id, conversation: `c_${number % CONVERSATIONS}` }, TEXT);
  const body = JSON.stringify({ events: [event] });
  const lines = [
    `POST ${url.pathname} HTTP/1.1`,
    `host: ${url.host}`,
    "user-agent: Service-Webhook/1",
    "content-type: application/json",
    "x-service-event-count: 1",
    `x-service-signature: ${sign(body)}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
