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
  /** Conversation that the message belongs to. */
  readonly conversationId: string;
  /** User who sent the message. */
  readonly from: Sender;
  /** Beginning of the text. Empty if the message contains only images. */
  readonly excerpt: string;
}

/** `follow`: a user followed the bot. The values of `entityType` are not documented. */
export interface FollowPayload {
  /** Account that caused the activity. */
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
  /** Beginning of the text. Absent if the platform sent none. */
  readonly excerpt?: string | undefined;
  /** Post that the activity belongs to. Absent if the platform sent none. */
  readonly postId?: string | undefined;
  /** Comment that the activity is about. Absent if the platform sent none. */
  readonly commentId?: string | undefined;
}

/** Payload of each event type. The list is closed on purpose, because newer types are {@link UnknownEvent}s. */
export interface PayloadByType {
  /** A user sent the bot a direct message. */
  readonly "dm.message": DmMessagePayload;
  /** A post or comment mentions the bot. */
  readonly mention: ActivityPayload;
  /** A user commented on the bot's post. */
  readonly comment: ActivityPayload;
  /** A user replied to the bot's comment. */
  readonly reply: ActivityPayload;
  /** A user followed the bot. */
  readonly follow: FollowPayload;
  /** A user liked the bot's post or comment. */
  readonly like: ActivityPayload;
  /** A user reposted the bot's post. */
  readonly repost: ActivityPayload;
  /** A user quoted the bot's post. */
  readonly quote: ActivityPayload;
}

/**
 * Fields of every event, with a type and its payload. Declared once, because an editor shows the words of a member of
 * {@link AnyEvent} only if all events share its declaration.
 */
interface EventWith<T extends string, P> {
  /** Ids are ordered. A larger id means a later event. */
  readonly id: string;
  /** ISO 8601, UTC. Empty if the platform sent none. */
  readonly createdAt: string;
  /** Type of the event. Comparing it with a name narrows the event. */
  readonly type: T;
  /** Content of the event. Fields that the platform adds later are kept. */
  readonly payload: P;
}

/** Event of each type. */
type EventByType = { [T in keyof PayloadByType]: EventWith<T, PayloadByType[T]> };

/** An event of any type that this version supports. `type` narrows `payload`. */
export type KnownEvent = EventByType[keyof PayloadByType];

/** An event type that this version supports. Derived from the events, so that the compiler's errors list the names. */
export type EventType = KnownEvent["type"];

/** An event of one type, or of several types as a union that `type` narrows. */
export type EventOf<T extends EventType> = EventByType[T];

/** The event that set a timer. */
export interface TimerSetter {
  /** Id of the event. */
  readonly id: string;
  /** Type of the event. */
  readonly type: string;
  /** ISO 8601, UTC. Empty if the platform sent none. */
  readonly createdAt: string;
  /**
   * True if the inbox was restored from a backup and a run missing from that backup may already have set this timer.
   */
  readonly inDoubt?: boolean | undefined;
}

/** Fields that a timer's payload copies from the event that set it. */
export interface EventPlace {
  /** Absent if the event belongs to no conversation. */
  readonly conversationId?: string | undefined;
  /** Absent if the event named no post. */
  readonly postId?: string | undefined;
  /** Absent if the event named no comment. */
  readonly commentId?: string | undefined;
  /** Absent if the event named no entity. */
  readonly entityType?: string | undefined;
  /** Absent if the event named no entity. */
  readonly entityId?: string | undefined;
  /** Sender of a direct message. */
  readonly from?: Sender | undefined;
  /** Account that caused any other activity. */
  readonly actor?: Actor | undefined;
}

/** Payload of a due timer, with the conversation, post and user of the event that set the timer. */
export interface TimerPayload<D = unknown> extends EventPlace {
  /** Name given to `ctx.later` and `bot.onTimer`. */
  readonly name: string;
  /** The timer's key, as `ctx.later` returned it. */
  readonly key: string;
  /** The timer's data after a JSON round trip. */
  readonly data: D;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
  /** Event whose handler set the timer. */
  readonly setBy: TimerSetter;
  /** Id of the event that caused the first timer of a chain. */
  readonly origin: string;
}

/** Payload of a cron tick. */
export interface CronPayload {
  /** Name given to `bot.cron`. */
  readonly name: string;
  /** ISO 8601, UTC. */
  readonly dueAt: string;
}

/** Type of a timer event. */
export type TimerType = `timer:${string}`;

/** Type of a cron event. */
export type CronType = `cron:${string}`;

/** A due timer. */
export interface TimerEvent<T extends TimerType = TimerType> extends EventWith<T, TimerPayload> {}

/** A cron tick. */
export interface CronEvent<T extends CronType = CronType> extends EventWith<T, CronPayload> {}

/**
 * Name of a type that this version does not know: at run time any string, such as `poll.closed`. The compiler treats it
 * as distinct from all known names, so that comparing `type` with a known name narrows an event.
 */
export declare enum UnknownEventType {
  /** Never a value. Only the compiler sees it. */
  name = "a name that this version does not know",
}

/**
 * An event of a type newer than this version. Its fields are unchecked. Separate from {@link KnownEvent}, so that
 * unknown types never break narrowing.
 */
export interface UnknownEvent
  extends EventWith<UnknownEventType, Readonly<Record<string, unknown>>> {}

/** Any event that a handler can receive. `type` narrows `payload`. */
export type AnyEvent = KnownEvent | TimerEvent | CronEvent | UnknownEvent;

/** Event passed to a handler for type `T`, or any event if the type is not known in advance. */
export type EventFor<T extends string> = T extends EventType
  ? EventOf<T>
  : T extends TimerType
    ? TimerEvent<T>
    : T extends CronType
      ? CronEvent<T>
      : T extends UnknownEventType
        ? UnknownEvent
        : AnyEvent;
