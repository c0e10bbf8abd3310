export type IdPrefix = "u" | "c" | "m" | "p" | "cm" | "t" | "n" | "dlv" | "call";

/** Event ids are padded, so that they sort alphabetically in event order (section 2 of the platform document). */
const EVENT_DIGITS = 12;

/** A cursor before the first event. Valid as `since`, unlike "", which means the end of the log. */
export const BEFORE_FIRST_EVENT: string = eventId(0);

export function idOf(prefix: IdPrefix, seq: number): string {
  return `${prefix}_${seq}`;
}

/**
 * Returns the number in an id of this kind, or `undefined` for any other text, so that each id has only one spelling.
 */
export function seqOf(prefix: IdPrefix, id: string): number | undefined {
  const [, kind, digits] = /^([a-z]+)_([1-9][0-9]{0,14})$/.exec(id) ?? [];
  return kind === prefix ? Number(digits) : undefined;
}

export function commentIds({ post, seq }: { readonly post: number; readonly seq: number }): {
  readonly postId: string;
  readonly commentId: string;
} {
  return { postId: idOf("p", post), commentId: idOf("cm", seq) };
}

export function messageIds(message: { readonly conversation: number; readonly seq: number }): {
  readonly conversationId: string;
  readonly messageId: string;
} {
  return { conversationId: idOf("c", message.conversation), messageId: idOf("m", message.seq) };
}

export function eventId(seq: number): string {
  return `evt_${String(seq).padStart(EVENT_DIGITS, "0")}`;
}

/** Returns the number in an event id or cursor, or `undefined` for any other text. */
export function eventSeq(id: string): number | undefined {
  const digits = /^evt_([0-9]{12})$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
