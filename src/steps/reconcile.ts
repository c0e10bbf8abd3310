import { ApiError, NetworkError } from "../client/errors.ts";
import type { Clock } from "../core/clock.ts";
import { minOf } from "../core/extremes.ts";
import { causesOf, codeOf, RetryLater, ServiceBotError, tryRead } from "../errors.ts";
import type { Claim, Inbox } from "../inbox/inbox.ts";
import { mayBeAlike } from "./fingerprint.ts";
import type { FoundEffect, Intent, Search } from "./step.ts";

/**
 * Decides what became of an effect that may have happened. Either it did not happen, or the platform shows it, or an
 * operator must decide.
 */

/** Retry delay while another process is sending the same content, in ms. */
const OTHER_SENDER_MS = 1_000;

/**
 * Time within which an event in another lane claims its message, in ms. Until then, an unclaimed message may belong to
 * that event.
 */
const OTHER_LANES_MS = 5_000;

export interface ReconcileOptions {
  readonly inbox: Pick<Inbox, "claimedRefs" | "provisionalAdoptions" | "requestsUnderWay">;
  readonly claim: Claim;
  readonly clock: Pick<Clock, "now">;
  /** Maximum duration of a call with this content, in ms. */
  readonly inFlightMs: number;
  /** Error to throw if the search finds nothing. `undefined` once the call is over, so that the search decides. */
  readonly searchAgain: RetryLater | undefined;
}

/**
 * Finds an intent's effect: the oldest message with its content that no other step has claimed. Messages are sent in
 * order, so the oldest belongs to the earliest step. Resolves to `undefined` if the effect did not happen.
 *
 * @throws {RetryLater} if the effect may still happen, or if it is unknown to which step a message belongs
 * @throws {ServiceBotError} STEP_UNCERTAIN if an operator must decide
 */
export async function reconcile<T>(
  search: Search<T>,
  intent: Intent,
  options: ReconcileOptions,
): Promise<FoundEffect<T> | undefined> {
  const { inbox, claim, clock, inFlightMs, searchAgain } = options;
  const searchedAt = clock.now();
  const { same, others, isComplete } = await search.find(intent);
  if (same.length > 0) {
    const underWay = await inbox.requestsUnderWay(claim, inFlightMs);
    // Another process may have just sent the candidate and not recorded it yet.
    if (underWay.some((other) => mayBeAlike(intent.request, other))) {
      const reason = "Another event is sending the same text. The bot retries later.";
      throw searchAgain ?? new RetryLater(OTHER_SENDER_MS, reason, { counts: false });
    }
    const refs = same.map(({ ref }) => ref);
    const taken = await inbox.claimedRefs(refs);
    const own = same.find(({ ref }) => !taken.has(ref));
    const agesMs = await inbox.provisionalAdoptions(refs);
    const leftMs = exchangeEndsIn(agesMs, inFlightMs + clock.now() - searchedAt);
    if (own !== undefined) {
      return { ...own, isProvisional: searchAgain !== undefined || leftMs > 0 };
    }
    if (leftMs > 0) {
      const reason = "Another event may have adopted this reply, and its own may still arrive.";
      throw searchAgain ?? new RetryLater(leftMs, reason, { counts: false });
    }
  }
  if (searchAgain !== undefined) throw searchAgain;
  if (!isComplete) {
    throw stepUncertain(
      "It is unknown whether the bot created the post. The feed does not contain it. Check the bot's posts.",
      claim.id,
    );
  }
  if (intent.lostRun !== undefined) await refuseOtherWords(others, intent, options);
  return undefined;
}

/**
 * Returns the time in ms after which the message of a step can no longer arrive, if that step may have adopted this
 * intent's message in its place. Its own message would then be the only one that no step has claimed. The step's call
 * began before the adoption. Not positive if there is no such step.
 *
 * @param agesMs times since other steps provisionally adopted messages with this content
 */
function exchangeEndsIn(agesMs: readonly number[], inFlightMs: number): number {
  // A negative age means that the clock was set back.
  return inFlightMs - minOf(agesMs.filter((ageMs) => ageMs >= 0));
}

/**
 * Throws if any other message may be the reply. A lost run may have sent another text, such as the current time or a
 * language model's reply, so any unclaimed message since the event may be that reply.
 */
async function refuseOtherWords(
  others: readonly string[],
  { ageMs }: Intent,
  { inbox, claim }: ReconcileOptions,
): Promise<void> {
  if (others.length === 0) return;
  const taken = await inbox.claimedRefs(others);
  const unclaimed = others.filter((ref) => !taken.has(ref));
  if (unclaimed.length === 0) return;
  if (ageMs < OTHER_LANES_MS) {
    const reason = "One of the bot's messages may be a reply to another event.";
    throw new RetryLater(OTHER_LANES_MS - ageMs, reason, { counts: false });
  }
  throw stepUncertain(
    "The inbox was restored from a backup, and the bot may already have replied to this event. " +
      `It has sent other texts there since the backup (${unclaimed.slice(0, 3).join(", ")}).`,
    claim.id,
  );
}

/** How certain it is, after an error, whether an effect happened. */
export type EffectCertainty =
  /** The effect cannot have happened. */
  | "absent"
  /** The effect may have happened, and its request may still be in progress. */
  | "in flight"
  /** The effect may have happened, and its request is over. */
  | "ended";

/** A gateway may send these statuses while the platform behind it is still working. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Returns the certainty that an error implies. The least certain of its causes decides. */
export function effectCertainty(error: unknown): EffectCertainty {
  let certainty: EffectCertainty = "absent";
  for (const at of causesOf(error).toReversed()) {
    if (tryRead(() => isEvidence(at)) !== true) continue;
    const own = tryRead(() => certaintyOf(at)) ?? "in flight";
    if (own === "in flight" || certainty === "absent") certainty = own;
  }
  return certainty;
}

function certaintyOf(error: Error): EffectCertainty {
  if (error instanceof NetworkError) return error.sent ? "in flight" : "absent";
  if (isBrokenOff(error)) return "in flight";
  if (!(error instanceof ApiError)) return "ended";
  if (error.saysNothingHappened) return "absent";
  return GATEWAY_STATUSES.has(error.status) ? "in flight" : "ended";
}

function isEvidence(error: Error): boolean {
  if (error instanceof NetworkError || error instanceof ApiError || isBrokenOff(error)) return true;
  return error instanceof ServiceBotError && error.code === "API_INVALID_RESPONSE";
}

/**
 * Returns whether a call was aborted, or the connection broke with one of the codes that Node or its `fetch` reports.
 */
function isBrokenOff(error: Error): boolean {
  return (
    /^(Abort|Timeout)Error$/.test(error.name) ||
    /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(SOCKET|ABORTED|HEADERS_TIMEOUT|BODY_TIMEOUT))$/.test(
      codeOf(error),
    )
  );
}

/**
 * Creates the error for a step whose effect can be neither found nor repeated. The error parks the event until an
 * operator decides.
 */
export function stepUncertain(reason: string, event?: string): ServiceBotError {
  return new ServiceBotError("STEP_UNCERTAIN", `${reason} ${howToSettle(event)}`);
}

/** Creates the error for a handler's own step, which its author could mark as repeatable. */
export function ownStepUncertain(reason: string, event: string, cause?: unknown): ServiceBotError {
  const message = `${reason} ${howToSettle(event)} If repeating the step is harmless, mark it as repeatable.`;
  return new ServiceBotError("STEP_UNCERTAIN", message, { cause });
}

/** Returns the remedy for an event that was parked because of a step. */
export function howToSettle(event = "ID"): string {
  const retry = `npx service-bot inbox retry ${event} --assume`;
  return (
    `Check whether the step took effect, on the platform or in the system that the step calls. If it did, run ` +
    `\`${retry} done\`. If it did not, run \`${retry} absent\` or discard the event. For details, run ` +
    `\`npx service-bot inbox show ${event}\`.`
  );
}
