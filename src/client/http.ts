import { addressProblem, normalizeAddress, tokenProblem } from "../core/access.ts";
import type { Random } from "../core/backoff.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { aboutEvent, headerOfEvent } from "../core/current-event.ts";
import { isLoopback } from "../core/loopback.ts";
import {
  type OptionNames,
  outOfRange,
  refuseProblems,
  TIME_LIMIT,
  unknownOptions,
} from "../core/ranges.ts";
import { scrubber } from "../core/redact.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import { channels, traced, type WorkMessages, works } from "../observe/channels.ts";
import { readJson } from "./body.ts";
import type { BreakerChange, Permit } from "./breaker.ts";
import type { BudgetWait, RequestsStatus } from "./budget.ts";
import { type Call, callOf, type Method, type RequestOptions } from "./call.ts";
import { ApiError, NetworkError } from "./errors.ts";
import { failureIn, readFailure } from "./failure.ts";
import { Gate, type Sharing } from "./gate.ts";
import { templateOf } from "./operation.ts";
import { withRetries } from "./retries.ts";
import { eitherOf } from "./signals.ts";
import { TokenProbe, withTokenRefused } from "./token-probe.ts";
import { timedOut, unreachable } from "./transport.ts";

/** The part of `fetch` that the client calls. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What is shared by all requests of a client. */
export interface HttpOptions {
  /** Address of the platform, without `/api/v1`; it may have a path. */
  readonly baseUrl: string;
  /** The bearer token. It is sent to `baseUrl` alone, and never across a redirect. */
  readonly apiKey: string;
  /** Deadline of one call, its retries included, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  /** How often a call is tried again, from 0 to 10. Default 2. */
  readonly retries?: number | undefined;
  /** Sends the requests. Default: `fetch` of the process. */
  readonly fetch?: Fetch;
  /** Default: the time of this machine, which is not moved when that is set. */
  readonly clock?: Clock;
  /** Spreads the waits between tries. Default `Math.random`. */
  readonly random?: Random;
  /** Called after each request, for logs and metrics; what it throws is dropped. `status` is absent when no answer came. */
  readonly onRequest?: (request: RequestReport) => void;
  /** At most so many requests in any 60 seconds, from 1 up. No limit by default. */
  readonly maxRequestsPerMinute?: number | undefined;
  /** Called for each request that was not sent, for the budget is spent or the platform away; with the code. */
  readonly onHeldBack?: (code: ErrorCode) => void;
  /** Called when requests begin to wait for that limit, at most once a minute. */
  readonly onBudget?: (wait: BudgetWait) => void;
  /** Called when requests are held back because the platform is away, and when they go out again. */
  readonly onBreaker?: (change: BreakerChange) => void;
}

const OPTIONS: OptionNames<HttpOptions> = {
  baseUrl: true,
  apiKey: true,
  timeoutMs: true,
  retries: true,
  fetch: true,
  clock: true,
  random: true,
  onRequest: true,
  maxRequestsPerMinute: true,
  onHeldBack: true,
  onBudget: true,
  onBreaker: true,
};

/** One request that was sent, as `onRequest` is told of it. */
export interface RequestReport {
  readonly method: string;
  /** Below `/api/v1`, with the query. */
  readonly path: string;
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Of the error; absent when it went well, and when its caller gave up. */
  readonly code?: ErrorCode | undefined;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/** An answer whose body is JSON. */
export interface Answer {
  readonly body: unknown;
  /** The platform's clock when it answered (the `Date` header, whole seconds), in ms since 1970. */
  readonly date: number | undefined;
}

/** Requests to `{base_url}/api/v1` (section 4 of the platform document) with everything they share. */
export class Http {
  /** Deadline of one call, its retries included, in milliseconds. */
  readonly timeoutMs: number;
  readonly #retries: number;
  readonly #options: HttpOptions;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #gate: Gate;
  readonly #probe: TokenProbe;
  /** Nobody but a platform on this machine is told of which event a handler makes a request. */
  readonly #isLocal: boolean;
  readonly #bot: object | undefined;
  #offsetMs: number | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: HttpOptions, sharing?: Sharing, bot?: object) {
    const { baseUrl, apiKey, timeoutMs = 10_000, retries = 2 } = options;
    refuseProblems([
      ...unknownOptions(options, OPTIONS),
      problem("baseUrl", addressProblem(baseUrl)),
      problem("apiKey", tokenProblem(apiKey)),
      outOfRange("timeoutMs", timeoutMs, TIME_LIMIT),
      outOfRange("retries", retries, { max: 10, whole: true }),
    ]);
    this.#options = { ...options, baseUrl: normalizeAddress(baseUrl), ...quietly(options) };
    this.#isLocal = isLoopback(new URL(baseUrl).hostname);
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.timeoutMs = timeoutMs;
    this.#retries = retries;
    this.#bot = bot;
    const parts = { ...this.#options, clock: this.#clock, random: this.#random };
    this.#gate = new Gate(parts, sharing);
    this.#probe = new TokenProbe(this.#clock, (...asked) => this.#readOne(...asked));
  }

  /** How much of the budget is left; undefined where there is none. */
  get requests(): RequestsStatus | undefined {
    return this.#gate.requests;
  }

  /** How long a handler's request can take, the wait for a place included, in milliseconds. */
  get longestCallMs(): number {
    return this.timeoutMs + this.#gate.longestWaitMs;
  }

  /** How far the platform's clock is ahead of ours, in milliseconds, by the last answer. */
  get offsetMs(): number {
    return this.#offsetMs ?? 0;
  }

  /** What the platform's clock shows, in ms since 1970; undefined before its first answer. */
  platformNow(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#clock.now() + this.#offsetMs;
  }

  /**
   * @throws {ApiError} with the platform's code, API_ERROR, API_REDIRECT
   * @throws {NetworkError} API_UNREACHABLE, API_TIMEOUT, API_CIRCUIT_OPEN, API_BUDGET_SPENT
   * @throws {ServiceBotError} API_INVALID_RESPONSE
   * @throws the reason of the signal, once it aborts
   */
  async request(method: Method, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { signal, purpose } = options;
    const event = this.#isLocal ? headerOfEvent() : undefined;
    const call = callOf(method, path, { ...options, event }, this.#options);
    signal?.throwIfAborted();
    const entered = this.#enter(call, signal);
    const permit = entered instanceof Promise ? await entered : entered;
    const deadline = new AbortController();
    const endsAt = this.#clock.now() + this.timeoutMs;
    const cancel = this.#clock.timer(this.timeoutMs, () => deadline.abort());
    const both = eitherOf(deadline.signal, signal);
    try {
      return await withRetries(
        // Each try passes the gate anew: it is a request to the budget, and news to the breaker.
        async (number) =>
          this.#attempt(call, number, number === 1 ? permit : await this.#enter(call, both), both),
        {
          method,
          // The poller has its own patience.
          retries: purpose === undefined ? this.#retries : 0,
          clock: this.#clock,
          random: this.#random,
          endsAt,
          signal: both,
        },
      );
    } catch (error) {
      if (error instanceof ServiceBotError) throw await this.#probe.explain(error, both);
      if (signal?.aborted) throw signal.reason;
      const request = `${method} ${path}`;
      if (deadline.signal.aborted) {
        throw timedOut(request, this.#options.baseUrl, this.timeoutMs, error);
      }
      throw unreachable(request, this.#options.baseUrl, error);
    } finally {
      cancel();
    }
  }

  /**
   * Gives work that comes before a request, such as reading a stream, the time of one: a source that never ends
   * must not hold its caller for ever.
   *
   * @throws {NetworkError} API_TIMEOUT, with `sent` false
   */
  async prepare<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = new AbortController();
    const tooLong = new NetworkError(
      "API_TIMEOUT",
      `Not sent: the image could not be read within ${this.timeoutMs} ms.`,
      { sent: false },
    );
    const cancel = this.#clock.timer(this.timeoutMs, () => deadline.abort(tooLong));
    try {
      return await work(eitherOf(deadline.signal, signal));
    } finally {
      cancel();
    }
  }

  #enter({ operation, kind }: Call, signal: AbortSignal | undefined): Permit | Promise<Permit> {
    const { onHeldBack } = this.#options;
    if (onHeldBack === undefined) return this.#gate.enter(operation, kind, signal);
    const tell = (error: unknown): never => {
      if (error instanceof NetworkError) onHeldBack(error.code);
      if (error instanceof ApiError) onHeldBack("API_CIRCUIT_OPEN");
      throw error;
    };
    try {
      const entered = this.#gate.enter(operation, kind, signal);
      return entered instanceof Promise ? entered.catch(tell) : entered;
    } catch (error) {
      return tell(error);
    }
  }

  /** Reads one item of a listing, apart from the call that asks for it. */
  async #readOne(path: string, signal: AbortSignal): Promise<void> {
    const call = callOf("GET", path, { query: { limit: 1 } }, this.#options);
    await this.#attempt(call, 1, await this.#enter(call, signal), signal);
  }

  async #attempt(call: Call, number: number, permit: Permit, signal: AbortSignal): Promise<Answer> {
    const { method, path, kind } = call;
    const { baseUrl } = this.#options;
    return await traced(
      works.request,
      () => ({ bot: this.#bot, method, template: templateOf(path), baseUrl, kind, number }),
      (work) => this.#exchange(call, permit, signal, work),
    );
  }

  /** One request with its answer, the body included. */
  async #exchange(
    call: Call,
    permit: Permit,
    signal: AbortSignal,
    work: WorkMessages["request"] | undefined,
  ): Promise<Answer> {
    const { method, path, operation, url, headers, body, secrets } = call;
    const request = `${method} ${path}`;
    const started = this.#clock.now();
    let status: number | undefined;
    let code: ErrorCode | undefined;
    try {
      const init: RequestInit = { method, headers, body, redirect: "manual", signal };
      const response = await this.#fetch(url, init);
      status = response.status;
      if (work !== undefined) work.status = status;
      const date = this.#readDate(response);
      const failure = { now: date ?? this.#clock.now(), scrub: scrubber(secrets) };
      if (!response.ok) {
        throw withTokenRefused(await readFailure(response, request, failure), call.operation);
      }
      const answer = await readJson(response, request);
      const refusal = failureIn(answer, response, request, failure);
      if (refusal !== undefined) throw refusal;
      permit.succeeded();
      return { body: answer, date };
    } catch (thrown) {
      const error =
        thrown instanceof ServiceBotError || signal.aborted
          ? thrown
          : unreachable(request, this.#options.baseUrl, thrown);
      permit.failed(error);
      if (error instanceof ServiceBotError) code = error.code;
      throw error;
    } finally {
      this.#publish({ method, path, status, code, ms: this.#clock.now() - started }, operation);
    }
  }

  #publish(report: RequestReport, operation: string): void {
    this.#options.onRequest?.(report);
    if (!channels.request.hasSubscribers) return;
    channels.request.publish({ bot: this.#bot, ...report, operation, ...aboutEvent() });
  }

  #readDate(response: Response): number | undefined {
    const date = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(date)) return undefined;
    this.#offsetMs = date - this.#clock.now();
    return date;
  }
}

/** The observers, unable to make a request fail that has succeeded: what they throw is dropped. */
function quietly(options: HttpOptions): Partial<HttpOptions> {
  const { onRequest, onHeldBack, onBudget, onBreaker } = options;
  return {
    ...(onRequest === undefined ? {} : { onRequest: quiet(onRequest) }),
    ...(onHeldBack === undefined ? {} : { onHeldBack: quiet(onHeldBack) }),
    ...(onBudget === undefined ? {} : { onBudget: quiet(onBudget) }),
    ...(onBreaker === undefined ? {} : { onBreaker: quiet(onBreaker) }),
  };
}

function quiet<T>(observe: (news: T) => unknown): (news: T) => void {
  return (news) => {
    // Called at once, for the order of what is logged.
    const told = async () => await observe(news);
    told().catch(() => undefined);
  };
}

function problem(name: string, what: string | undefined): string | undefined {
  return what === undefined ? undefined : `${name} ${what}`;
}
