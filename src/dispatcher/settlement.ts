import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";
import { type FinishedRun, type Observer, unobserved } from "../core/observer.ts";
import { persist, WRITE_ATTEMPTS } from "../core/persist.ts";
import { type ShownError, scrubber, showError } from "../core/redact.ts";
import { traceIdOf } from "../core/trace.ts";
import { GiveUp, LoopHeld, RetryLater } from "../errors.ts";
import { parseEventText, textsOf } from "../events/parse.ts";
import type { Advance, Claim, Inbox } from "../inbox/inbox.ts";
import type { Verdict } from "./verdict.ts";

export interface SettlementOptions {
  readonly inbox: Inbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly scrub: (text: string) => string;
  /** Aborted once the bot stops. */
  readonly stopping: AbortSignal;
  /** Aborts when the store is waited for no more. */
  readonly deadline?: AbortSignal | undefined;
  readonly observer?: Observer | undefined;
}

type Failure = Extract<Verdict, { readonly error: unknown }>;

/** The error of a dead letter is cut to this many characters. */
const MAX_ERROR_CHARACTERS = 2_000;

/** A bot that stops waits no longer than so many of them take, a few seconds. */
const WRITE_ATTEMPTS_AT_THE_END = 5;

/** A code as ours, the platform's and Node's are; whatever else a handler puts there may be anything. */
const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** Writes down what became of an event, and says so in one log line. */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #observer: Observer;

  constructor(options: SettlementOptions) {
    this.#options = options;
    this.#observer = options.observer ?? unobserved;
  }

  /**
   * @param ms how long the run took
   * @param goesOn whether the lane may go on with its next event; asked before each try
   * @returns that event's claim
   */
  async write(
    claim: Claim,
    verdict: Verdict,
    ms: number,
    goesOn: () => boolean,
  ): Promise<Claim | undefined> {
    const { log } = this.#options;
    const line = {
      event: claim.id,
      type: claim.type,
      lane: claim.lane,
      attempt: claim.attempt,
      ms,
      trace: traceIdOf(claim.trace),
    };
    const { held, next } = await this.#persist(claim, verdict, goesOn);
    const run = this.#finishedRun(claim, verdict);
    this.#observer.ran(claim.type, held ? verdict.kind : "lost", ms, run);
    if (!held) this.#observer.leaseLost(verdict.kind === "lost" ? "run" : "result");
    if (!held || verdict.kind === "lost")
      log.warn(line, "lease lost: the result of this run is dropped");
    else if (verdict.kind === "done") log.info(line, "handled");
    else if (verdict.kind === "unbegun") log.info(line, "handed back before it began");
    else this.#logFailure(verdict, line, run.error);
    return next;
  }

  #finishedRun(claim: Claim, verdict: Verdict): FinishedRun {
    const error = "error" in verdict ? showError(verdict.error, this.#scrubFor(claim)) : undefined;
    const retryInMs = "delayMs" in verdict ? verdict.delayMs : undefined;
    return { event: claim.id, attempt: claim.attempt, error, retryInMs };
  }

  #logFailure(verdict: Failure, line: object, err: ShownError | undefined): void {
    const { log } = this.#options;
    if (verdict.kind === "dead") log.error({ ...line, err }, "dead letter");
    else if (verdict.kind === "retry") {
      log.warn({ ...line, retryInMs: verdict.delayMs, err }, "attempt failed");
    } else {
      // The loop guard warns once for all events that it holds back.
      const level = verdict.error instanceof LoopHeld ? "debug" : "warn";
      log[level](
        { ...line, retryInMs: verdict.delayMs, err },
        "put off; the attempt does not count",
      );
    }
  }

  #persist(claim: Claim, verdict: Verdict, goesOn: () => boolean): Promise<Advance> {
    const { clock, log, stopping, deadline } = this.#options;
    // After the last try the lease is left to run out: then the event is handled again, and its lane
    // stands still until then. Its steps are recorded and not repeated.
    return persist(() => this.#writeOnce(claim, verdict, goesOn), {
      clock,
      signal: deadline,
      tries: () => (stopping.aborted ? WRITE_ATTEMPTS_AT_THE_END : WRITE_ATTEMPTS),
      failed: (err) => {
        log.error(
          { err, event: claim.id, trace: traceIdOf(claim.trace) },
          "the outcome of a run cannot be written",
        );
      },
    });
  }

  async #writeOnce(claim: Claim, verdict: Verdict, goesOn: () => boolean): Promise<Advance> {
    if (verdict.kind === "lost") return { held: false };
    if (verdict.kind === "done" && goesOn()) return await this.#options.inbox.advance(claim);
    return { held: await this.#end(claim, verdict) };
  }

  #end(claim: Claim, verdict: Exclude<Verdict, { readonly kind: "lost" }>): Promise<boolean> {
    const { inbox } = this.#options;
    switch (verdict.kind) {
      case "done":
        return inbox.complete(claim);
      case "retry":
        return inbox.retry(claim, verdict.delayMs, this.#errorText(claim, verdict.error));
      case "unbegun":
        return inbox.release(claim, 0);
      case "release":
        return inbox.release(claim, verdict.delayMs, this.#errorText(claim, verdict.error));
      case "dead":
        return inbox.bury(claim, this.#errorText(claim, verdict.error));
    }
  }

  #errorText(claim: Claim, error: unknown): string {
    const { type, code = "", message } = showError(error, this.#scrubFor(claim));
    // By which "service-bot inbox" finds what has died of one cause; see the inbox's filters.
    const what = tellsMore(error) && CODE.test(code) ? `${type} ${code}` : type;
    return `${what}: ${message}`.slice(0, MAX_ERROR_CHARACTERS);
  }

  /** Errors of handlers quote what people wrote; that must not end up in a log or a dead letter. */
  #scrubFor(claim: Claim): (text: string) => string {
    const parsed = parseEventText(claim.body);
    const hide = scrubber(parsed.ok ? textsOf(parsed.event) : []);
    return (text) => hide(this.#options.scrub(text));
  }
}

/** Two errors have one code each, which their name says already. */
function tellsMore(error: unknown): boolean {
  return !(error instanceof GiveUp || error instanceof RetryLater);
}
