import { conversationOf } from "../events/lane.ts";
import type { AnyEvent, EventOf, EventType, UnknownEvent } from "../events/types.ts";
import type { SentByBot } from "./test-platform.ts";

/** An event caused by a user, and the bot's replies. */
export interface Exchange<T extends string = string> {
  /** The event as delivered. Its excerpt may be truncated. */
  readonly event: EventFor<T>;
  /** Texts that the bot wrote in the event's conversation or below its post, in order. */
  readonly replies: readonly string[];
}

/** Event of type `T`, or an event of a type that this version does not know. */
export type EventFor<T extends string> = T extends EventType ? EventOf<T> : UnknownEvent;

export function repliesTo(event: AnyEvent, sent: readonly SentByBot[]): readonly string[] {
  const target = targetOf(event);
  return sent.filter((one) => targetOfSent(one) === target).map(({ text }) => text);
}

function targetOf(event: AnyEvent): string | undefined {
  const conversation = conversationOf(event);
  if (conversation !== undefined) return `dm ${conversation}`;
  const { postId }: { readonly postId?: unknown } = { ...Object(event.payload) };
  return `comment ${postId}`;
}

function targetOfSent(sent: SentByBot): string | undefined {
  if (sent.kind === "dm") return `dm ${sent.conversationId}`;
  return sent.kind === "comment" ? `comment ${sent.postId}` : undefined;
}
