import { RetryLater, ServiceBotError } from "../errors.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import { howToSettle } from "./certainty.ts";
import { mayBeAlike } from "./fingerprint.ts";
import type { Intent, Search, ShownEffect } from "./step.ts";

/** In ms. Pause before the next look while another process is sending the same. */
const OTHER_SENDER_MS = 1_000;

/** In ms. An unclaimed message may belong to an event of another lane, which adopts it within this time. */
const OTHER_LANES_MS = 5_000;

export interface ReconcileOptions {
  readonly inbox: Pick<Inbox, "claimedRefs" | "requestsUnderWay">;
  readonly claim: Claim;
}

/**
 * Decides which of the bot's messages is the effect of an intent: the oldest with its content that no other step has,
 * because sends go out in order. `undefined` if the effect did not happen.
 *
 * @throws {RetryLater} while another process is sending the same, or may still adopt what is there
 * @throws {ServiceBotError} STEP_UNCERTAIN if a person has to look
 */
export async function reconcile<T>(
  search: Search<T>,
  intent: Intent,
  options: ReconcileOptions,
): Promise<ShownEffect<T> | undefined> {
  const { same, others, isComplete } = await search.find(intent);
  if (same.length > 0) {
    await refuseWhileOthersSend(search, intent, options);
    const taken = await options.inbox.claimedRefs(same.map(({ ref }) => ref));
    const own = same.find(({ ref }) => !taken.has(ref));
    if (own !== undefined) return own;
  }
  if (!isComplete) throw notShown();
  if (intent.lostRun !== undefined) await refuseOtherWords(others, intent, options);
  return undefined;
}

/** A candidate may be a message that another process has sent a moment ago and not recorded yet. */
async function refuseWhileOthersSend(
  { inFlightMs }: Search<unknown>,
  { request }: Intent,
  { inbox, claim }: ReconcileOptions,
): Promise<void> {
  const underWay = await inbox.requestsUnderWay(claim, inFlightMs);
  if (!underWay.some((other) => mayBeAlike(request, other))) return;
  const reason = "Another event is sending the same text there. The next look tells them apart.";
  throw new RetryLater(OTHER_SENDER_MS, reason, { counts: false });
}

/**
 * A lost run may have said something else, such as the time or words of a language model. An unclaimed message of the
 * bot since the event may be that.
 */
async function refuseOtherWords(
  others: readonly string[],
  { ageMs }: Intent,
  { inbox }: ReconcileOptions,
): Promise<void> {
  if (others.length === 0) return;
  const taken = await inbox.claimedRefs(others);
  const unclaimed = others.filter((ref) => !taken.has(ref));
  if (unclaimed.length === 0) return;
  if (ageMs < OTHER_LANES_MS) {
    const reason = "A message of the bot may belong to another event, which adopts it in a moment.";
    throw new RetryLater(OTHER_LANES_MS - ageMs, reason, { counts: false });
  }
  throw new ServiceBotError(
    "STEP_UNCERTAIN",
    "The inbox was restored from a backup, and this event may have been answered before. The bot has said something " +
      `there since, in other words than it would now (${unclaimed.slice(0, 3).join(", ")}). ${howToSettle()}`,
  );
}

function notShown(): ServiceBotError {
  return new ServiceBotError(
    "STEP_UNCERTAIN",
    "It is unknown whether this post was made: it is not in the feed, which need not show it. " +
      `Look at the bot's posts. ${howToSettle()}`,
  );
}
