import { type BackoffOptions, backoff, type Clock, type Random } from "../core/clock.ts";
import { aboutEvent } from "../core/trace.ts";
import { type ChannelMessages, channels } from "../observe/channels.ts";
import { ApiError, apiErrorOf, isUnexplained, NetworkError, outageOf } from "./errors.ts";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Named in the messages of channels. */
  readonly bot: object | undefined;
}

/** Identifies a request, from when it is let through until it ends. */
export interface Pass {
  /** Method and template of the path, such as `POST /posts`. */
  readonly operation: string;
}

/** Outages in a row after which the next request is not worth trying. */
const THRESHOLD = 5;

/** In ms. Between two tries of a platform, or of one operation, that is away. */
const OUTAGE_WAITS: BackoffOptions = { baseMs: 1_000, maxMs: 30_000, factor: 2 };

/** In ms. Between two tries of an operation whose daily quota is used up. */
const QUOTA_WAITS: BackoffOptions = { baseMs: 60_000, maxMs: 900_000, factor: 2 };

/** In ms. Between two tries of a refused token. The platform is asked once a minute at least. */
const TOKEN_WAITS: BackoffOptions = { baseMs: 5_000, maxMs: 60_000, factor: 2 };

/** Refusals that concern one operation alone, by the codes of section 7 of the platform document. */
const ofOneOperation: ReadonlySet<string> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

/** The circuits of one operation. */
interface Operation {
  /** Outages of the operation while others are answered. */
  readonly outages: Circuit;
  readonly quota: Circuit;
}

/**
 * Holds requests back while they are known to fail, so that not every lane hammers a dead platform. That begins after five
 * outages in a row, or at once if a 429 names a wait. Then one request at a time tries whether the platform is back. Each
 * operation has circuits of its own for its outages and its quota; all share the circuits of the platform and the token.
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
   * Throws if a request would not be let through now.
   *
   * @param operation method and template of the path, such as `POST /posts`
   * @throws {NetworkError} API_CIRCUIT_OPEN
   * @throws {ApiError} the refusal of the token, with `local` true
   */
  check(operation: string): void {
    this.#checkToken();
    const { outages, quota } = this.#operation(operation);
    check(quota, `the quota of "${operation}" is used up`);
    check(outages, `the last requests of "${operation}" failed`);
    const requested = "the platform asked for a pause";
    const away = "the platform did not answer the last requests";
    check(this.#platform, this.#platform.isRequested ? requested : away);
  }

  /** Lets a request through. Throws as {@link check} does. */
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
    if (kind === "quota") quota.refused(pass, waitMs);
    else quota.left(pass);
    if (kind === "outage") {
      if (waitMs > 0) this.#platform.refused(pass, waitMs);
      else this.#platform.failed(pass);
      // While the whole platform is away, failures say nothing about one operation, and must not hold it back afterwards.
      if (this.#platform.isClosed || outages.isTrial(pass)) outages.failed(pass);
    } else if (kind === "unknown") {
      this.#platform.left(pass);
      outages.left(pass);
    } else {
      this.#platform.succeeded(pass);
      outages.succeeded(pass);
    }
  }

  /** @param answered whether the platform has answered, so that it has seen the token */
  #tokenAfter(pass: Pass, error: unknown, answered: boolean): void {
    if (error instanceof ApiError && error.refusesToken) this.#token.refused(pass, 0, error);
    else if (answered && !isUnexplained(error)) this.#token.succeeded(pass);
    // An unexplained 403 may concern this request alone. The probe that explains it is the trial then.
    else this.#token.left(pass);
  }

  /** The refusal is thrown anew, so that each caller sees the reason. */
  #checkToken(): void {
    const retryAfterMs = this.#token.heldBackMs();
    const { refusal } = this.#token;
    if (retryAfterMs === 0 || refusal === undefined) return;
    const { status, platformCode } = refusal;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw apiErrorOf(
      `Not sent because the platform refuses the token or the app (${status}). Next try in ${seconds} s. ` +
        "Check SERVICE_API_KEY (apiKey), and check in the developer portal that the app is enabled.",
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
    `Not sent because ${reason}. Next try in ${Math.ceil(retryAfterMs / 1000)} s.`,
    { sent: false, retryAfterMs },
  );
}

/** `answered`: the platform is there, even if it refused. `unknown`: the caller gave up. */
function classify(error: unknown): "outage" | "quota" | "answered" | "unknown" {
  if (error instanceof ApiError && ofOneOperation.has(error.platformCode ?? "")) {
    return error.status === 429 || error.status === 503 ? "quota" : "answered";
  }
  if (error instanceof ApiError && error.refusesToken) return "answered";
  if (outageOf(error) !== undefined) return "outage";
  return error instanceof ApiError ? "answered" : "unknown";
}

/** A circuit breaker: closed, open for a while, then one request at a time (the trial) until one succeeds. */
class Circuit {
  readonly #options: BreakerOptions;
  readonly #of: string;
  readonly #why: ChannelMessages["circuit"]["why"];
  readonly #waits: BackoffOptions;
  /** Failures in a row while the circuit is closed. */
  #failures = 0;
  /** Openings in a row; 0 while the circuit is closed. */
  #opened = 0;
  /** Length of the present wait, in ms. */
  #openForMs = 0;
  #openUntil = 0;
  #isRequested = false;
  #trial: Pass | undefined;
  #refusal: ApiError | undefined;

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

  /** True while the circuit is open because the platform asked for a pause, not because failures were counted. */
  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** The last answer that refused the token. */
  get refusal(): ApiError | undefined {
    return this.#refusal;
  }

  /** Returns how long to wait before the next request, in ms; 0 if it may go now. */
  heldBackMs(): number {
    if (this.isClosed) return 0;
    const left = this.#leftMs();
    // The length of the trial is unknown; after its failure the wait is at least this long.
    return left === 0 && this.#trial !== undefined ? this.#cooldownMs() : left;
  }

  /** Lets a request through that is not held back. While the circuit is open, that request is the trial. */
  enter(pass: Pass): void {
    if (!this.isClosed) this.#trial = pass;
  }

  isTrial(pass: Pass): boolean {
    return pass === this.#trial;
  }

  /**
   * Closes the circuit, even for a request from before it opened. If the platform asked for a pause, only the success of a
   * trial after that pause closes it.
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

  /** Opens the circuit after too many failures in a row. */
  failed(pass: Pass): void {
    // Requests that were in flight when the circuit opened say nothing new.
    if (!this.isClosed && !this.isTrial(pass)) return;
    this.#failures += 1;
    if (this.isClosed && this.#failures < THRESHOLD) return;
    this.#isRequested = false;
    this.#open(0);
  }

  /**
   * Opens the circuit at once, because the platform asks for a pause or refuses the token.
   *
   * @param waitMs minimum length of the pause, in ms
   * @param refusal answer that refused the token
   */
  refused(pass: Pass, waitMs: number, refusal?: ApiError): void {
    this.#isRequested = true;
    this.#refusal = refusal;
    if (this.isClosed || this.isTrial(pass)) this.#open(waitMs);
    else if (waitMs > this.#leftMs()) this.#wait(waitMs);
  }

  /** Ends a request that says nothing about the platform. */
  left(pass: Pass): void {
    if (this.isTrial(pass)) this.#trial = undefined;
  }

  #open(waitMs: number): void {
    this.#opened += 1;
    this.#wait(Math.max(waitMs, this.#cooldownMs()));
    if (this.#opened === 1) this.#publish(true, this.#openForMs);
  }

  #wait(ms: number): void {
    this.#openForMs = ms;
    this.#openUntil = this.#options.clock.now() + ms;
    // A trial from before the wait says nothing about the time after it.
    this.#trial = undefined;
  }

  /** Returns between half and the whole of the bound, because many processes must not come back at one moment. */
  #cooldownMs(): number {
    return backoff(this.#waits, this.#opened, () => 0.5 + this.#options.random() / 2);
  }

  /** Remaining wait in ms. After the clock is set back, the wait begins anew and gets no longer. */
  #leftMs(): number {
    const now = this.#options.clock.now();
    this.#openUntil = Math.min(this.#openUntil, now + this.#openForMs);
    return Math.max(0, this.#openUntil - now);
  }

  #publish(open: boolean, retryInMs: number): void {
    const error = open && this.#refusal !== undefined ? { error: this.#refusal } : {};
    const circuit = { of: this.#of, why: this.#why, open, retryInMs, ...error };
    channels.circuit.publish({ bot: this.#options.bot, ...circuit, ...aboutEvent() });
  }
}
