import { ServiceBotError } from "../errors.ts";
import { conversationOf } from "../events/lane.ts";
import type { AnyEvent, EventOf, EventType, UnknownEvent } from "../events/types.ts";
import type { SentByBot } from "./test-platform.ts";

/** An event that a person has caused, and what the bot said to it. */
export interface Exchange<T extends string = string> {
  /** The event as it was delivered: its excerpt may be cut. */
  readonly event: EventFor<T>;
  /** Texts of the bot in the conversation of the event, or below its post, in order. */
  readonly replies: readonly string[];
}

export type EventFor<T extends string> = T extends EventType ? EventOf<T> : UnknownEvent;

/** Returns the texts that answer an event, out of what the bot has sent meanwhile. */
export function repliesTo(event: AnyEvent, sent: readonly SentByBot[]): readonly string[] {
  const place = placeOf(event);
  return sent.filter((one) => placeOfSent(one) === place).map(({ text }) => text);
}

/** Describes a delivery that the bot has not taken. */
export function notTaken(status: number, body: unknown): ServiceBotError {
  const { error }: { error?: { code?: string; message?: string } } = { ...Object(body) };
  const { code = "no code", message = "" } = { ...error };
  return new ServiceBotError(
    "NOT_READY",
    `The bot answered the delivery with ${status} ${code}: ${message}`,
  );
}

/** Names the place in which the bot answers an event. `undefined` if there is none. */
function placeOf(event: AnyEvent): string | undefined {
  const conversation = conversationOf(event);
  if (conversation !== undefined) return `dm ${conversation}`;
  const { postId }: { readonly postId?: unknown } = { ...Object(event.payload) };
  return `comment ${postId}`;
}

function placeOfSent(sent: SentByBot): string | undefined {
  if (sent.kind === "dm") return `dm ${sent.conversationId}`;
  return sent.kind === "comment" ? `comment ${sent.postId}` : undefined;
}
