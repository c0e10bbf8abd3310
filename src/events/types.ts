/**
 * The events of section 6 of the platform document.
 *
 * Objects may carry fields beyond those declared: the platform adds fields without changing its
 * version (section 9), and they are kept as they came.
 *
 * The document names the fields, and shows neither their types nor which may be absent. Ids are texts here even if
 * the platform sends numbers.
 */

/** Somebody who did something that concerns the bot. */
export interface Actor {
  /** Empty if the platform sent none. Never empty in a `follow`. */
  readonly username: string;
  /** The username if the platform sent no name. */
  readonly name: string;
}

/** The sender of a direct message. */
export interface Sender extends Actor {
  /** Absent if the platform sent none. */
  readonly userId?: string | undefined;
}

/** `dm.message`: someone sent the bot a direct message. */
export interface DmMessagePayload {
  readonly conversationId: string;
  readonly from: Sender;
  /** The beginning of the text; empty for a message of images alone. */
  readonly excerpt: string;
}

/** `follow`: someone follows the bot. The values of `entityType` are not documented. */
export interface FollowPayload {
  readonly actor: Actor;
  /** Absent if the platform sent none. */
  readonly entityType?: string | undefined;
  /** Absent if the platform sent none. */
  readonly entityId?: string | undefined;
}

/**
 * `mention`, `comment`, `reply`, `like`, `repost`, `quote`: something happened around a post.
 * A mention, a comment and a reply have `entityId` or `postId`, or both. `excerpt`, `postId` and `commentId` are
 * documented for mentions and comments; other types pass them on where the platform sends them.
 */
export interface ActivityPayload extends FollowPayload {
  readonly excerpt?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
}

/** Which payload belongs to which type. Closed on purpose: newer types are {@link UnknownEvent}s. */
export interface PayloadByType {
  readonly "dm.message": DmMessagePayload;
  readonly mention: ActivityPayload;
  readonly comment: ActivityPayload;
  readonly reply: ActivityPayload;
  readonly follow: FollowPayload;
  readonly like: ActivityPayload;
  readonly repost: ActivityPayload;
  readonly quote: ActivityPayload;
}

/** The event types that this version knows. */
export type EventType = keyof PayloadByType;

/** Fields of every event. */
interface Envelope {
  /** Ordered: a larger id means a later event. */
  readonly id: string;
  /** ISO 8601, UTC; empty where the platform sent none. */
  readonly createdAt: string;
}

/** An event of one type (or of several, as a union that `type` narrows). */
export type EventOf<T extends EventType> = {
  [K in T]: Envelope & { readonly type: K; readonly payload: PayloadByType[K] };
}[T];

/** An event of any type that this version knows; `type` narrows `payload`. */
export type KnownEvent = EventOf<EventType>;

/** An event of a type newer than this version. Kept out of {@link KnownEvent}, so it never breaks narrowing. */
export interface UnknownEvent extends Envelope {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Any event that can be handed to a handler. */
export type AnyEvent = KnownEvent | UnknownEvent;
