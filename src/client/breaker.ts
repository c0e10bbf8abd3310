import { type BackoffOptions, backoff, type Clock, type Random } from "../core/clock.ts";
import { aboutEvent } from "../core/trace.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import { type ChannelMessages, channels } from "../observe/channels.ts";
import {
  ApiError,
  apiErrorOf,
  isLasting,
  isUnexplained,
  NetworkError,
  outageOf,
} from "./errors.ts";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly bot: object | undefined;
}

/** Identifies a request from its admission to its end. */
export interface Pass {
  /** Method and path template, such as `POST /posts`. */
  readonly operation: string;
}

/** Requests that the client holds back. Times are in ms since 1970 on the client's clock. */
export interface CircuitStatus {
  /** `platform`, `token`, or an operation such as `POST /posts`. */
  readonly of: string;
  /**
   * `outages`: requests fail, or the platform asked for a pause. `quota`: the operation's quota is used up. `token`:
   * the platform rejects the token (status 401) or the app (403).
   */
  readonly why: "outages" | "quota" | "token";
  /** Time since which requests are held back. */
  readonly since: number;
  /** Time of the next attempt, or of the current one. */
  readonly retryAt: number;
  /** Code of the last error. */
  readonly code: ErrorCode | undefined;
  /** HTTP status of the last error. `undefined` if there was no response. */
  readonly status: number | undefined;
}

/** Number of consecutive outages that opens a circuit. */
const THRESHOLD = 5;

/** Waits between attempts while the platform or a single operation is down, in ms. */
const OUTAGE_WAITS: BackoffOptions = { baseMs: 1_000, maxMs: 30_000, factor: 2 };

/** Waits between attempts at an operation whose daily quota is used up, in ms. */
const QUOTA_WAITS: BackoffOptions = { baseMs: 60_000, maxMs: 900_000, factor: 2 };

/**
 * Waits between attempts with a rejected token, in ms. At most a minute, so that the bot soon notices a repaired token.
 */
const TOKEN_WAITS: BackoffOptions = { baseMs: 5_000, maxMs: 60_000, factor: 2 };

interface Operation {
  /** Counts this operation's outages while other operations still get responses. */
  readonly outages: Circuit;
  readonly quota: Circuit;
}

/**
 * Holds requests back while they would fail, so that lanes do not hammer a platform that is down. The breaker opens
 * after five outages in a row, or at once if a 429 response names a wait. Then one request at a time tests whether the
 * platform is back. Each operation has its own circuits for outages and for its quota. All operations share one circuit
 * for the platform and one for the token.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #platform: Circuit;
  readonly #token: Circuit;
  readonly #operations = new Map<string, Operation>();

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#platform = new Circuit(options, "platform", "outages", OUTAGE_WAITS);
    this.#token = new Circuit(options, "token", "token", TOKEN_WAITS);
  }

  /**
   * Throws if the breaker would hold a request back now.
   *
   * @param operation method and path template, such as `POST /posts`
   * @throws {NetworkError} API_CIRCUIT_OPEN
   * @throws {ApiError} with the status and code of the response that rejected the token, and with `local` true
   */
  check(operation: string): void {
    this.#checkToken();
    const { outages, quota } = this.#operation(operation);
    check(quota, `the quota for "${operation}" is used up`);
    check(outages, `the last requests for "${operation}" failed`);
    const requested = "the platform asked for a pause";
    const away = "the platform did not respond to the last requests";
    check(this.#platform, this.#platform.isRequested ? requested : away);
  }

  /** The open circuits: the platform, the token, then operations. */
  get open(): readonly CircuitStatus[] {
    const ofOperations = [...this.#operations.values()].flatMap(({ outages, quota }) => [
      outages,
      quota,
    ]);
    const circuits = [this.#platform, this.#token, ...ofOperations];
    return circuits.map(({ status }) => status).filter((status) => status !== undefined);
  }

  /** Admits a request. Throws like {@link check}. */
  enter(operation: string): Pass {
    this.check(operation);
    const pass: Pass = { operation };
    for (const circuit of this.#circuitsOf(operation)) circuit.enter(pass);
    return pass;
  }

  succeeded(pass: Pass): void {
    for (const circuit of this.#circuitsOf(pass.operation)) circuit.succeeded(pass);
  }

  failed(pass: Pass, error: unknown): void {
    const { outages, quota } = this.#operation(pass.operation);
    const kind = classify(error);
    const waitMs = outageOf(error)?.retryAfterMs ?? 0;
    this.#tokenAfter(pass, error, kind === "answered" || kind === "quota");
    if (kind === "quota") quota.refused(pass, waitMs, error);
    else quota.left(pass);
    if (kind === "outage") {
      if (waitMs > 0) this.#platform.refused(pass, waitMs, error);
      else this.#platform.failed(pass, error);
      // During an outage of the whole platform, a failure must not count against a single operation.
      if (this.#platform.isClosed || outages.isTrial(pass)) outages.failed(pass, error);
    } else if (kind === "unknown") {
      this.#platform.left(pass);
      outages.left(pass);
    } else {
      this.#platform.succeeded(pass);
      outages.succeeded(pass);
    }
  }

  /** @param answered true if the platform has responded and has therefore checked the token */
  #tokenAfter(pass: Pass, error: unknown, answered: boolean): void {
    if (error instanceof ApiError && error.refusesToken) this.#token.refused(pass, 0, error);
    else if (answered && !isUnexplained(error)) this.#token.succeeded(pass);
    // An unexplained 403 may concern only this request. The probe that explains it then becomes the trial.
    else this.#token.left(pass);
  }

  #checkToken(): void {
    const retryAfterMs = this.#token.heldBackMs();
    const { refusal } = this.#token;
    if (retryAfterMs === 0 || refusal === undefined) return;
    const { status, platformCode } = refusal;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw apiErrorOf(
      `Not sent because the platform rejected the token or the app (${status}). Next attempt in ${seconds} s. ` +
        "Check SERVICE_API_KEY (apiKey), and make sure that the app is enabled in the developer portal.",
      { status, platformCode, retryAfterMs, refusesToken: true, local: true },
    );
  }

  #circuitsOf(operation: string): readonly Circuit[] {
    const { outages, quota } = this.#operation(operation);
    return [this.#platform, this.#token, outages, quota];
  }

  #operation(name: string): Operation {
    const known = this.#operations.get(name);
    if (known !== undefined) return known;
    const operation: Operation = {
      outages: new Circuit(this.#options, name, "outages", OUTAGE_WAITS),
      quota: new Circuit(this.#options, name, "quota", QUOTA_WAITS),
    };
    this.#operations.set(name, operation);
    return operation;
  }
}

function check(circuit: Circuit, reason: string): void {
  const retryAfterMs = circuit.heldBackMs();
  if (retryAfterMs === 0) return;
  throw new NetworkError(
    "API_CIRCUIT_OPEN",
    `Not sent because ${reason}. Next attempt in ${Math.ceil(retryAfterMs / 1000)} s.`,
    { sent: false, retryAfterMs },
  );
}

/**
 * Classifies an error. `answered` means that the platform is working, even if it rejected the request. `unknown` means
 * that the caller aborted the request.
 */
function classify(error: unknown): "outage" | "quota" | "answered" | "unknown" {
  if (error instanceof ApiError && isLasting(error)) {
    return error.status === 429 || error.status === 503 ? "quota" : "answered";
  }
  if (error instanceof ApiError && error.refusesToken) return "answered";
  if (outageOf(error) !== undefined) return "outage";
  return error instanceof ApiError ? "answered" : "unknown";
}

/**
 * A circuit breaker. While closed, it admits every request. Once open, it holds requests back for a wait, then admits
 * one request at a time, the trial, until a trial succeeds.
 */
class Circuit {
  readonly #options: BreakerOptions;
  readonly #of: string;
  readonly #why: ChannelMessages["circuit"]["why"];
  readonly #waits: BackoffOptions;
  #failures = 0;
  /** Consecutive openings. 0 while the circuit is closed. */
  #opened = 0;
  #openForMs = 0;
  #openUntil = 0;
  #isRequested = false;
  #trial: Pass | undefined;
  /** The error that opened the circuit, or that kept it open. */
  #error: unknown;
  #openedAt = 0;

  /** @param of `platform`, `token`, or an operation such as `POST /posts` */
  constructor(
    options: BreakerOptions,
    of: string,
    why: ChannelMessages["circuit"]["why"],
    waits: BackoffOptions,
  ) {
    this.#options = options;
    this.#of = of;
    this.#why = why;
    this.#waits = waits;
  }

  get isClosed(): boolean {
    return this.#opened === 0;
  }

  /** True while the circuit is open because of a rejection or a requested pause, rather than counted failures. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  get refusal(): ApiError | undefined {
    return this.#why === "token" && this.#error instanceof ApiError ? this.#error : undefined;
  }

  /** `undefined` while the circuit is closed. */
  get status(): CircuitStatus | undefined {
    if (this.isClosed) return undefined;
    const error = this.#error;
    return {
      of: this.#of,
      why: this.#why,
      since: this.#openedAt,
      retryAt: this.#options.clock.now() + this.#leftMs(),
      code: error instanceof ServiceBotError ? error.code : undefined,
      status: error instanceof ApiError ? error.status : undefined,
    };
  }

  /** Returns the wait before the next request, in ms, or 0 if a request may be sent now. */
  heldBackMs(): number {
    if (this.isClosed) return 0;
    const left = this.#leftMs();
    // The duration of the trial is unknown. If it fails, the wait is at least this long.
    return left === 0 && this.#trial !== undefined ? this.#cooldownMs() : left;
  }

  /** Admits a request that is not held back. While the circuit is open, that request is the trial. */
  enter(pass: Pass): void {
    if (!this.isClosed) this.#trial = pass;
  }

  isTrial(pass: Pass): boolean {
    return pass === this.#trial;
  }

  /**
   * Closes the circuit, even if the request was sent before it opened. After a rejection or a requested pause, only a
   * later trial closes the circuit.
   */
  succeeded(pass: Pass): void {
    if (this.#isRequested && !this.isTrial(pass)) return;
    const wasOpen = !this.isClosed;
    this.#failures = 0;
    this.#opened = 0;
    this.#isRequested = false;
    this.#trial = undefined;
    if (wasOpen) this.#publish(false, 0);
  }

  failed(pass: Pass, error: unknown): void {
    // Requests in flight when the circuit opened add no information.
    if (!this.isClosed && !this.isTrial(pass)) return;
    this.#failures += 1;
    if (this.isClosed && this.#failures < THRESHOLD) return;
    this.#isRequested = false;
    this.#error = error;
    this.#open(0);
  }

  /**
   * Opens the circuit at once, because the platform has requested a pause or rejected the token.
   *
   * @param waitMs minimum length of the pause, in ms
   */
  refused(pass: Pass, waitMs: number, error: unknown): void {
    this.#isRequested = true;
    this.#error = error;
    if (this.isClosed || this.isTrial(pass)) this.#open(waitMs);
    else if (waitMs > this.#leftMs()) this.#wait(waitMs);
  }

  /** Ends a request whose result does not concern this circuit. */
  left(pass: Pass): void {
    if (this.isTrial(pass)) this.#trial = undefined;
  }

  #open(waitMs: number): void {
    this.#opened += 1;
    this.#wait(Math.max(waitMs, this.#cooldownMs()));
    if (this.#opened > 1) return;
    this.#openedAt = this.#options.clock.now();
    this.#publish(true, this.#openForMs);
  }

  #wait(ms: number): void {
    this.#openForMs = ms;
    this.#openUntil = this.#options.clock.now() + ms;
    // The result of a trial that started before this wait no longer counts.
    this.#trial = undefined;
  }

  /**
   * Returns between half of the bound and the whole bound, in ms, so that many processes do not retry at the same time.
   */
  #cooldownMs(): number {
    return backoff(this.#waits, this.#opened, () => 0.5 + this.#options.random() / 2);
  }

  /** Returns the remaining wait, in ms. If the clock is set back, the wait restarts but does not grow. */
  #leftMs(): number {
    const now = this.#options.clock.now();
    this.#openUntil = Math.min(this.#openUntil, now + this.#openForMs);
    return Math.max(0, this.#openUntil - now);
  }

  #publish(open: boolean, retryInMs: number): void {
    const error = open && this.refusal !== undefined ? { error: this.refusal } : {};
    const circuit = { of: this.#of, why: this.#why, open, retryInMs, ...error };
    channels.circuit.publish({ bot: this.#options.bot, ...circuit, ...aboutEvent() });
  }
}
