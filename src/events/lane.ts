import type { Logger } from "../core/logger.ts";
import { timed } from "../core/loop-watch.ts";
import { showError } from "../core/safe-text.ts";
import { idText } from "./id.ts";
import { scrubberOf } from "./parse.ts";
import type { AnyEvent } from "./types.ts";

/** Returns an event's lane. Events in the same lane are handled in order, one at a time. */
export type LaneOf = (event: AnyEvent) => string;

/** The bot's `lane` option. `undefined` means the default lane. */
export type LaneOption = (event: AnyEvent) => string | undefined;

/** Returns the default lane: the conversation for messages, the post for activity on a post, the user for follows. */
export function defaultLane(event: AnyEvent): string {
  // Read by field rather than by type, so that types newer than this version also get a lane.
  const payload: Readonly<Record<string, unknown>> = Object(event.payload);
  const conversation = conversationOf(event);
  if (conversation !== undefined) return `dm:${conversation}`;
  const { username }: { username?: unknown } = Object(payload["actor"]);
  const user = event.type === "follow" ? idText(username) : undefined;
  if (user !== undefined) return `user:${user}`;
  const post = idText(payload["postId"]) ?? idText(payload["entityId"]);
  return post === undefined ? `type:${event.type}` : `post:${post}`;
}

/**
 * Wraps the bot's `lane` option. If the function throws, or returns no text, the event gets the default lane, so that
 * the delivery is not rejected.
 */
export function safeLane(laneOf: LaneOption, log: Logger): LaneOf {
  return (event) => {
    try {
      const lane: unknown = timed("lane()", () => laneOf(event));
      if (lane === undefined) return defaultLane(event);
      const text = idText(lane);
      if (text !== undefined) return text;
      // Nothing waits for a promise, so its rejection must not end the process.
      if (lane instanceof Promise) lane.catch(() => undefined);
      const returned = lane === "" ? "an empty string" : kindOf(lane);
      log.error(
        { returned, event: event.id },
        "the lane option returned neither a string nor undefined; using the default lane",
      );
    } catch (thrown) {
      const err = showError(thrown, scrubberOf(event));
      log.error({ err, event: event.id }, "the lane option threw; using the default lane");
    }
    return defaultLane(event);
  };
}

/** Returns `Promise` for an asynchronous function's result. */
function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

export function conversationOf(event: AnyEvent): string | undefined {
  const { conversationId }: Readonly<Record<string, unknown>> = Object(event.payload);
  return idText(conversationId);
}

/**
 * Returns the username of the account that caused an event, or `undefined` if the payload has no username (section 6 of
 * the platform document).
 */
export function actorOf(event: AnyEvent): string | undefined {
  // Read by field rather than by type, so that types newer than this version also have an actor.
  const { actor, from }: Readonly<Record<string, unknown>> = Object(event.payload);
  const { username }: { readonly username?: unknown } = { ...Object(actor ?? from) };
  return typeof username === "string" && username !== "" ? username : undefined;
}

/**
 * Folds a username for comparison. Ignores case, because the platform document does not define whether case matters.
 */
export function foldUsername(username: string): string {
  return username.toLowerCase();
}
