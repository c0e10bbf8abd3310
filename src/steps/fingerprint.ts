/** Target of a write: a conversation for a message, a post for a comment, and neither for a post. */
export interface Place {
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
}

/** Description of a write, recorded before it is sent. It suffices to recognize the effect on the platform. */
export interface WriteFingerprint extends Place {
  readonly text?: string | undefined;
  readonly imageCount: number;
  /** The platform's time, in ms since 1970. Absent if unknown. */
  readonly at?: number | undefined;
  /** Time during which the request may be in progress, in ms. Depends on the timeout of the process that sends it. */
  readonly inFlightMs?: number | undefined;
}

/** Parses a recorded request. Returns `undefined` if the request is not a write. */
export function readFingerprint(request: string): WriteFingerprint | undefined {
  if (!request.startsWith("{")) return undefined;
  const fingerprint: WriteFingerprint = JSON.parse(request);
  return fingerprint;
}

/** Returns an effect's unique name. Ids alone are not unique across messages, comments and posts. */
export function refOf(kind: "dm" | "comment" | "post", id: string): string {
  return `${kind}:${id}`;
}

/** Returns the name of a recorded request's place, or `undefined` for a post. */
export function requestPlace(request: string): string | undefined {
  return placeName(readFingerprint(request) ?? {});
}

/**
 * Returns whether an entry has the fingerprint's text and number of images. A message with only images has no text, and
 * neither has a deleted message (section 2 of the platform document).
 */
export function hasContentOf(
  { text, imageCount }: WriteFingerprint,
  shown: { readonly text: string; readonly images: readonly unknown[] },
): boolean {
  return shown.images.length === imageCount && shown.text.trim() === (text ?? "").trim();
}

/**
 * Returns whether two requests may have the same effect. Ignores their times. A request without a place may match any
 * request, because another version may record places differently during a rollout.
 */
export function mayBeAlike(one: string, other: string): boolean {
  const [a, b] = [readFingerprint(one), readFingerprint(other)];
  if (a === undefined || b === undefined) return one === other;
  if (a.text !== b.text || a.imageCount !== b.imageCount) return false;
  const [here, there] = [placeName(a), placeName(b)];
  return here === undefined || there === undefined || here === there;
}

/**
 * Returns whether a recorded request differs from the current request in text, number of images or place. Image
 * contents are not compared, because reading them may take longer than sending them.
 */
export function differs(recorded: string, now: string): boolean {
  const [a, b] = [readFingerprint(recorded), readFingerprint(now)];
  if (a === undefined || b === undefined) return false;
  if (a.text !== b.text || a.imageCount !== b.imageCount) return true;
  const place = placeName(a);
  return place !== undefined && place !== placeName(b);
}

function placeName({ conversationId, postId }: Place): string | undefined {
  return conversationId === undefined ? postId && `post:${postId}` : `dm:${conversationId}`;
}
