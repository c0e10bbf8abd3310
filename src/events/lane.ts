import type { Logger } from "../core/logger.ts";
import { scrubber, showError } from "../core/safe-text.ts";
import { idText } from "./id.ts";
import { textsOf } from "./parse.ts";
import type { AnyEvent } from "./types.ts";

/** Names the lane of an event. Events of one lane are handled one after the other, in order. */
export type LaneOf = (event: AnyEvent) => string;

/**
 * The lane of an event unless a bot chooses its own: the conversation for messages, the post for
 * activity on a post, the user for follows.
 */
export function defaultLane(event: AnyEvent): string {
  // Read by field rather than by type, so that types newer than this version find their place too.
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversation = conversationOf(event);
  if (conversation !== undefined) return `dm:${conversation}`;
  const { username }: { username?: unknown } = Object(payload["actor"]);
  const user = event.type === "follow" ? idText(username) : undefined;
  if (user !== undefined) return `user:${user}`;
  const post = idText(payload["postId"]) ?? idText(payload["entityId"]);
  return post === undefined ? `type:${event.type}` : `post:${post}`;
}

/** Makes a bot's own lane function unable to refuse a delivery. */
export function safeLane(laneOf: LaneOf, log: Logger): LaneOf {
  return (event) => {
    try {
      return String(laneOf(event));
    } catch (thrown) {
      const err = showError(thrown, scrubber(textsOf(event)));
      log.error({ err, event: event.id }, "the lane option threw; using the default lane");
      return defaultLane(event);
    }
  };
}

/** Returns the id of the conversation that an event belongs to; `undefined` if it belongs to none. */
export function conversationOf(event: AnyEvent): string | undefined {
  const { conversationId }: Readonly<Record<string, unknown>> = { ...event.payload };
  return idText(conversationId);
}

/** Returns the username of the account that caused an event; `undefined` where the payload names none (section 6). */
export function actorOf(event: AnyEvent): string | undefined {
  // Read by field rather than by type, so that types newer than this version have an actor, too.
  const { actor, from }: Readonly<Record<string, unknown>> = { ...event.payload };
  const { username }: { readonly username?: unknown } = { ...Object(actor ?? from) };
  return typeof username === "string" && username !== "" ? username : undefined;
}

/** Returns the form in which usernames are compared: the document does not show whether case matters, so it does not. */
export function foldUsername(username: string): string {
  return username.toLowerCase();
}
