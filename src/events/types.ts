/**
 * Events as defined in section 6 of the platform document.
 *
 * Objects may have more fields than declared, because the platform adds fields without a new version (section 9). Such
 * fields are passed through unchanged.
 *
 * The document names the fields, but neither their types nor which fields are optional. Ids are strings here, even if
 * the platform sends numbers.
 */

/** Account that caused the activity. */
export interface Actor {
  /** Empty if the platform sent none, which an event of type `follow` does not allow. */
  readonly username: string;
  /** The username if the platform sent no name. */
  readonly name: string;
}

/** Sender of a direct message. */
export interface Sender extends Actor {
  /** Absent if the platform sent none. */
  readonly userId?: string | undefined;
}

/** `dm.message`: a user sent the bot a direct message. */
export interface DmMessagePayload {
  readonly conversationId: string;
  readonly from: Sender;
  /** Beginning of the text. Empty if the message contains only images. */
  readonly excerpt: string;
}

/** `follow`: a user followed the bot. The values of `entityType` are not documented. */
export interface FollowPayload {
  readonly actor: Actor;
  /** Absent if the platform sent none. */
  readonly entityType?: string | undefined;
  /** Absent if the platform sent none. */
  readonly entityId?: string | undefined;
}

/**
 * `mention`, `comment`, `reply`, `like`, `repost`, `quote`: activity around a post. A mention, a comment or a reply has
 * `entityId`, `postId`, or both. `excerpt`, `postId` and `commentId` are documented only for mentions and comments, but
 * the platform may send them in other types too.
 */
export interface ActivityPayload extends FollowPayload {
  readonly excerpt?: string | undefined;
  readonly postId?: string | undefined;
  readonly commentId?: string | undefined;
}

/** Payload of each event type. The list is closed on purpose, because newer types are {@link UnknownEvent}s. */
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

/** An event type that this version supports. */
export type EventType = keyof PayloadByType;

/** Fields of every event. */
interface Envelope {
  /** Ids are ordered. A larger id means a later event. */
  readonly id: string;
  /** ISO 8601, UTC. Empty if the platform sent none. */
  readonly createdAt: string;
}

/** An event of one type, or of several types as a union that `type` narrows. */
export type EventOf<T extends EventType> = {
  [K in T]: Envelope & { readonly type: K; readonly payload: PayloadByType[K] };
}[T];

/** An event of any type that this version supports. `type` narrows `payload`. */
export type KnownEvent = EventOf<EventType>;

/**
 * An event of a type newer than this version. Separate from {@link KnownEvent}, so that unknown types never break
 * narrowing.
 */
export interface UnknownEvent extends Envelope {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Any event that a handler can receive. */
export type AnyEvent = KnownEvent | UnknownEvent;
