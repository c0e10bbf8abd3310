import type { ControlClient } from "../control-client.ts";
import { type Answer, type Happened, isQuiet, type Run, Watch } from "./watch.ts";

/**
 * `answered`: the bot has written as often as something happened; `handled`: it has reported all events as done, and
 * not written that often; `failed`: it has reported a run that failed; `delivered`: it has taken the events,
 * by the webhook or from the log, and not written that often; `none`: it has not even taken all of them.
 */
export type Outcome = "answered" | "handled" | "failed" | "delivered" | "none";

export interface Reaction {
  readonly outcome: Outcome;
  /** What the bot wrote, oldest first. */
  readonly answers: readonly Answer[];
  /** The first run that failed; if none did, the last one that is put off. Absent if neither was reported. */
  readonly run?: Run | undefined;
  /** True if the bot reports its runs, and has not reported all of them in time. */
  readonly isUnfinished?: boolean;
}

/** A wait for the bot. */
export interface Awaited extends Happened {
  /** The newest timeline entry from before the act. */
  readonly after: number;
  /** Milliseconds. */
  readonly timeoutMs: number;
}

/** The longest wait that one request for the timeline may ask for, in milliseconds. */
const LONGEST_POLL_MS = 30_000;

/**
 * Bots rarely answer anything else than words, so once all of it is taken they get this long for an
 * answer, in milliseconds.
 */
const QUIET_MS = 2_000;

/** So many timeline entries from before the act are looked at: something in them may still be answered. */
const LOOK_BACK = 200;

/**
 * Waits until the bot has done what can be expected of it, or until the time is over. Returns at once where
 * no bot is concerned.
 */
export async function awaitReaction(
  control: Pick<ControlClient, "timeline">,
  awaited: Awaited,
): Promise<Reaction> {
  const { act, after, timeoutMs } = awaited;
  const watch = new Watch(awaited);
  const wanted = act.count ?? 1;
  if (watch.taken) return { outcome: "none", answers: [] };
  let seen = Math.max(after - LOOK_BACK, 0);
  let until = performance.now() + timeoutMs;
  let hurried = false;
  for (let left = timeoutMs; left > 0; left = until - performance.now()) {
    const page = await control.timeline(seen, Math.min(left, LONGEST_POLL_MS));
    seen = page.last;
    for (const entry of page.entries) watch.see(entry);
    const end = endOf(watch, wanted);
    if (end !== undefined) return end;
    if (watch.isReporting || hurried || !watch.taken || !isQuiet(act.type)) continue;
    hurried = true;
    until = Math.min(until, performance.now() + QUIET_MS);
  }
  const answers = watch.likelyAnswers;
  if (answers.length >= wanted) return { outcome: "answered", answers };
  const { isReporting: isUnfinished, putOffRun: run } = watch;
  return { outcome: watch.taken ? "delivered" : "none", answers, run, isUnfinished };
}

/** Returns the end of the wait; `undefined` if it goes on. */
function endOf(watch: Watch, wanted: number): Reaction | undefined {
  const { answers, failedRun: run } = watch;
  if (run !== undefined) return { outcome: "failed", answers, run };
  const isAnswered = answers.length >= wanted;
  // A handler that has answered can still fail.
  if (watch.isReporting && !watch.isHandled) return undefined;
  if (isAnswered) return { outcome: "answered", answers };
  return watch.isHandled ? { outcome: "handled", answers } : undefined;
}
