import { RetryLater, ServiceBotError } from "../errors.ts";
import { type Effect, howToSettle, type OpenIntent } from "./step.ts";

/** What is remembered of a write that was begun: enough to know it again. */
export interface Asked {
  readonly text?: string | undefined;
  readonly imageCount: number;
  /** Where: one of them for a message or a comment, none for a post. */
  readonly conversationId?: string | undefined;
  readonly postId?: string | undefined;
  /** The platform's time, in ms since 1970; absent where it was not known yet. */
  readonly at?: number | undefined;
}

/** What a step has made. */
export type Kind = "dm" | "comment" | "post";

/** While others are in the middle of saying the same, it is looked for again after this, in milliseconds. */
const AT_IT_MS = 1_000;

/** So long what nobody has adopted yet may be that of an event of another lane, in milliseconds. */
const OTHERS_MS = 5_000;

/** The oldest one that no other step has: sends go out in order. */
export async function adopt<
  T extends { readonly id: string; readonly createdAt?: string | undefined },
>(kind: Kind, found: readonly T[], intent: OpenIntent): Promise<Effect<T> | undefined> {
  if (found.length === 0) return undefined;
  await expectNobodyAtIt(intent);
  const taken = await intent.claimed(found.map(({ id }) => refOf(kind, id)));
  const [first] = found
    .filter(({ id }) => !taken.has(refOf(kind, id)))
    .sort((a, b) => Date.parse(a.createdAt ?? "") - Date.parse(b.createdAt ?? ""));
  return first && { result: first, ref: refOf(kind, first.id) };
}

/**
 * Before a restore another text may have been said for the event: one with the time in it, or of a language model. What
 * the bot has said there since, and what is the result of no step, may be that.
 *
 * @param others what the bot has said there since, in other words
 * @throws {ServiceBotError} STEP_UNCERTAIN
 */
export async function expectNothingElse(
  kind: Kind,
  others: readonly { readonly id: string }[],
  { past, claimed }: OpenIntent,
): Promise<undefined> {
  if (past === undefined || others.length === 0) return;
  const refs = others.map(({ id }) => refOf(kind, id));
  const taken = await claimed(refs);
  const left = refs.filter((ref) => !taken.has(ref));
  if (left.length === 0) return;
  const leftMs = OTHERS_MS - past.lookedForMs;
  if (leftMs > 0) {
    const reason = "What the bot has said there may belong to another event, which takes it then.";
    throw new RetryLater(leftMs, reason, { counts: false });
  }
  throw new ServiceBotError(
    "STEP_UNCERTAIN",
    "The inbox was restored from a backup, and this event may have been answered before. The bot has said something " +
      `there since, in other words than it would now (${left.slice(0, 3).join(", ")}). ${howToSettle()}`,
  );
}

/** What is there may be what another process has sent just now, and not recorded yet: it soon has. */
async function expectNobodyAtIt({ request, underWay }: OpenIntent): Promise<void> {
  if (!(await underWay()).some((other) => maySayTheSame(request, other))) return;
  const reason =
    "Another event is saying the same there just now; whose is whose is told apart when it has.";
  throw new RetryLater(AT_IT_MS, reason, { counts: false });
}

/**
 * Whenever that was. What names no place may be anywhere: while versions are rolled out, another one may have said the
 * place in words that this one does not know. Other steps than these have requests of their own.
 */
function maySayTheSame(one: string, other: string): boolean {
  if (!one.startsWith("{") || !other.startsWith("{")) return one === other;
  const [a, b]: [Asked, Asked] = [JSON.parse(one), JSON.parse(other)];
  if (a.text !== b.text || a.imageCount !== b.imageCount) return false;
  const [here, there] = [placeOf(a), placeOf(b)];
  return here === undefined || there === undefined || here === there;
}

/**
 * Whether a recorded request has another text, another number of images, or another place. The contents of images
 * are not compared, because reading them may take longer than sending them.
 */
export function asksElse(recorded: string, now: string): boolean {
  if (!recorded.startsWith("{")) return false;
  const [then, asked]: [Asked, Asked] = [JSON.parse(recorded), JSON.parse(now)];
  if (then.text !== asked.text || then.imageCount !== asked.imageCount) return true;
  const place = placeOf(then);
  return place !== undefined && place !== placeOf(asked);
}

function placeOf({ conversationId, postId }: Asked): string | undefined {
  return conversationId === undefined ? postId && `post:${postId}` : `dm:${conversationId}`;
}

/** Ids of messages and of comments may be alike; what names the result of a step must not be. */
export function refOf(kind: Kind, id: string): string {
  return `${kind}:${id}`;
}
