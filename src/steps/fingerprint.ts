/** Target of a write. A message or a comment has one of the two, a post none. */
export interface Place {
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
}

/** A write as it is recorded before it is sent: enough to recognise it on the platform afterwards. */
export interface WriteFingerprint extends Place {
  readonly text?: string | undefined;
  readonly imageCount: number;
  /** The platform's time, in ms since 1970. Absent if it was unknown. */
  readonly at?: number | undefined;
}

/** Reads a recorded request. `undefined` if it is not that of a write. */
export function readFingerprint(request: string): WriteFingerprint | undefined {
  if (!request.startsWith("{")) return undefined;
  const fingerprint: WriteFingerprint = JSON.parse(request);
  return fingerprint;
}

/** Names an effect. Messages, comments and posts may have the same ids. */
export function refOf(kind: "dm" | "comment" | "post", id: string): string {
  return `${kind}:${id}`;
}

/** Names the place of a recorded request. `undefined` for a post. */
export function placeOf(request: string): string | undefined {
  return placeName(readFingerprint(request) ?? {});
}

/**
 * True if both have the same text and number of images. A message of images alone has no text, and neither has a
 * deleted one (section 2).
 */
export function hasContentOf(
  { text, imageCount }: WriteFingerprint,
  shown: { readonly text: string; readonly images: readonly unknown[] },
): boolean {
  return shown.images.length === imageCount && shown.text.trim() === (text ?? "").trim();
}

/**
 * True if two requests may have the same effect. Their times do not count. A request without a place may be for any,
 * because another version, during a rollout, may name places in words unknown to this one.
 */
export function mayBeAlike(one: string, other: string): boolean {
  const [a, b] = [readFingerprint(one), readFingerprint(other)];
  if (a === undefined || b === undefined) return one === other;
  if (a.text !== b.text || a.imageCount !== b.imageCount) return false;
  const [here, there] = [placeName(a), placeName(b)];
  return here === undefined || there === undefined || here === there;
}

/**
 * True if a recorded request has another text, number of images or place than the present one. The contents of images
 * are not compared, because reading them may take longer than sending them.
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
