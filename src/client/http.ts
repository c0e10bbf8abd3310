import { isLoopback } from "../core/addresses.ts";
import { sleep } from "../core/clock.ts";
import { scrubber } from "../core/safe-text.ts";
import { aboutEvent, headerOfEvent } from "../core/trace.ts";
import { type ErrorCode, ServiceBotError } from "../errors.ts";
import { channels, traced, type WorkMessages, works } from "../observe/channels.ts";
import { Breaker } from "./breaker.ts";
import type { Pass } from "./circuit.ts";
import { ApiError, NetworkError } from "./errors.ts";
import {
  type HttpOptions,
  type RequestReport,
  type ResolvedOptions,
  resolveOptions,
} from "./http-options.ts";
import { type ApiRequest, buildRequest, type Method, type RequestOptions } from "./request.ts";
import {
  HANDLER_WAIT_MS,
  type Permit,
  RequestLimiter,
  type RequestsStatus,
} from "./request-limiter.ts";
import { failureIn, readFailure, readJson } from "./response.ts";
import { retryInMs } from "./retries.ts";
import { TokenProbe, withTokenRefused } from "./token-probe.ts";
import { timedOut, unreachable } from "./transport.ts";

/** An answer whose body is JSON. */
export interface Answer {
  readonly body: unknown;
  /** The platform's clock when it answered (the `Date` header, whole seconds), in ms since 1970. */
  readonly date: number | undefined;
}

/** Leave to send one request. */
interface Admission {
  readonly pass: Pass;
  /** Absent without a budget. */
  readonly permit: Permit | undefined;
}

/**
 * Sends requests to `{base_url}/api/v1` (section 4 of the platform document). Each try passes the limiter, which counts
 * requests, and the breaker, which holds them back while the platform is away. Then it is sent, its answer
 * is classified, and it is repeated if that is safe.
 */
export class Http {
  readonly #options: ResolvedOptions;
  readonly #limiter: RequestLimiter | undefined;
  readonly #breaker: Breaker;
  readonly #probe: TokenProbe;
  /** Only a platform on this machine learns for which event a handler calls. */
  readonly #isLocal: boolean;
  readonly #bot: object | undefined;
  #offsetMs: number | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: HttpOptions, bot?: object) {
    this.#options = resolveOptions(options);
    this.#bot = bot;
    const { baseUrl, clock, random, maxRequestsPerMinute: perMinute } = this.#options;
    const { onBreaker: onChange, onBudget: onWait } = this.#options;
    this.#isLocal = isLoopback(new URL(baseUrl).hostname);
    this.#breaker = new Breaker({ clock, random, onChange });
    if (perMinute !== undefined) {
      this.#limiter = new RequestLimiter({ perMinute, clock, random, onWait });
    }
    this.#probe = new TokenProbe(clock, (...probe) => this.#readOne(...probe));
  }

  /** Deadline of one call, its retries included, in milliseconds. */
  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /** How much of the budget is left; undefined without one. */
  get requests(): RequestsStatus | undefined {
    return this.#limiter?.status;
  }

  /** How long a handler's request can take, the wait for a permit included, in milliseconds. */
  get longestCallMs(): number {
    return this.timeoutMs + (this.#limiter === undefined ? 0 : HANDLER_WAIT_MS);
  }

  /** Divides the budget among so many instances of the bot. */
  divideBudget(instances: number): void {
    this.#limiter?.divideBy(instances);
  }

  /** How far the platform's clock is ahead of ours, in milliseconds, by the last answer. */
  get offsetMs(): number {
    return this.#offsetMs ?? 0;
  }

  /** The platform's time in ms since 1970; undefined before its first answer. */
  platformNow(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.#options.clock.now() + this.#offsetMs;
  }

  /**
   * @throws {ApiError} with the platform's code, API_ERROR, API_REDIRECT
   * @throws {NetworkError} API_UNREACHABLE, API_TIMEOUT, API_CIRCUIT_OPEN, API_BUDGET_SPENT
   * @throws {ServiceBotError} API_INVALID_RESPONSE
   * @throws the reason of the signal, once it aborts
   */
  async request(method: Method, path: string, options: RequestOptions = {}): Promise<Answer> {
    const { signal } = options;
    const event = this.#isLocal ? headerOfEvent() : undefined;
    const request = buildRequest(method, path, options, { ...this.#options, event });
    signal?.throwIfAborted();
    // The wait for the first permit is not part of the deadline.
    const first = await this.#admit(request, signal);
    const deadline = new AbortController();
    const endsAt = this.#options.clock.now() + this.timeoutMs;
    const cancel = this.#options.clock.timer(this.timeoutMs, () => deadline.abort());
    const either = eitherOf(deadline.signal, signal);
    try {
      return await this.#sendUntil(endsAt, request, first, either);
    } catch (error) {
      if (error instanceof ServiceBotError) throw await this.#probe.explain(error, either);
      if (signal?.aborted) throw signal.reason;
      const name = `${method} ${path}`;
      if (deadline.signal.aborted) {
        throw timedOut(name, this.#options.baseUrl, this.timeoutMs, error);
      }
      throw unreachable(name, this.#options.baseUrl, error);
    } finally {
      cancel();
    }
  }

  /**
   * Runs work that precedes a request, such as reading a stream, with the deadline of a request. A source that never ends
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
    const cancel = this.#options.clock.timer(this.timeoutMs, () => deadline.abort(tooLong));
    try {
      return await work(eitherOf(deadline.signal, signal));
    } finally {
      cancel();
    }
  }

  /** Sends a request, and repeats it while that is safe and there is time. */
  async #sendUntil(
    endsAt: number,
    request: ApiRequest,
    first: Admission,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { method, kind } = request;
    // The poller retries by itself.
    const retries = kind === "audit" || kind === "poll" ? 0 : this.#options.retries;
    for (let number = 1, admission = first; ; number++) {
      try {
        return await this.#attempt(request, number, admission, signal);
      } catch (error) {
        if (number > retries) throw error;
        const waitMs = retryInMs(method, error, number, this.#options.random);
        if (waitMs === undefined || this.#options.clock.now() + waitMs >= endsAt) throw error;
        await sleep(this.#options.clock, waitMs, signal);
        signal.throwIfAborted();
      }
      // A retry counts as a request of its own, and the breaker may have opened meanwhile.
      admission = await this.#admit(request, signal);
    }
  }

  /** Passes the limiter and the breaker. */
  async #admit(
    { operation, kind }: ApiRequest,
    signal: AbortSignal | undefined,
  ): Promise<Admission> {
    try {
      // A request that the breaker holds back now does not wait for a permit first.
      this.#breaker.check(operation);
      const permit = await this.#limiter?.take(kind, signal);
      try {
        // Entered last, because a waiting trial of the platform would hold back all others.
        return { pass: this.#breaker.enter(operation), permit };
      } catch (error) {
        permit?.giveBack();
        throw error;
      }
    } catch (error) {
      if (error instanceof NetworkError) this.#options.onHeldBack?.(error.code);
      if (error instanceof ApiError) this.#options.onHeldBack?.("API_CIRCUIT_OPEN");
      throw error;
    }
  }

  /** Reads one item of a listing for the probe of the token. */
  async #readOne(path: string, signal: AbortSignal): Promise<void> {
    const request = buildRequest("GET", path, { query: { limit: 1 } }, this.#options);
    await this.#attempt(request, 1, await this.#admit(request, signal), signal);
  }

  /** Sends a request once. */
  async #attempt(
    request: ApiRequest,
    number: number,
    { pass, permit }: Admission,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { method, operation, kind } = request;
    const { baseUrl } = this.#options;
    const bot = this.#bot;
    const template = operation.slice(method.length + 1);
    const message = () => ({ bot, method, template, baseUrl, kind, number });
    try {
      const answer = await traced(works.request, message, (work) =>
        this.#exchange(request, signal, work),
      );
      this.#breaker.succeeded(pass);
      permit?.end();
      return answer;
    } catch (error) {
      this.#breaker.failed(pass, error);
      if (error instanceof NetworkError && !error.sent) permit?.giveBack();
      else permit?.end();
      throw error;
    }
  }

  /** Sends a request and reads its answer, the body included. */
  async #exchange(
    { method, path, url, headers, body, secrets, operation }: ApiRequest,
    signal: AbortSignal,
    work: WorkMessages["request"] | undefined,
  ): Promise<Answer> {
    const name = `${method} ${path}`;
    const started = this.#options.clock.now();
    let status: number | undefined;
    let code: ErrorCode | undefined;
    try {
      const init: RequestInit = { method, headers, body, redirect: "manual", signal };
      const response = await this.#options.fetch(url, init);
      status = response.status;
      if (work !== undefined) work.status = status;
      const date = this.#readDate(response);
      const failure = { now: date ?? this.#options.clock.now(), scrub: scrubber(secrets) };
      if (!response.ok) {
        throw withTokenRefused(await readFailure(response, name, failure), operation);
      }
      const answer = await readJson(response, name);
      const refusal = failureIn(answer, response, name, failure);
      if (refusal !== undefined) throw refusal;
      return { body: answer, date };
    } catch (thrown) {
      const error =
        thrown instanceof ServiceBotError || signal.aborted
          ? thrown
          : unreachable(name, this.#options.baseUrl, thrown);
      if (error instanceof ServiceBotError) code = error.code;
      throw error;
    } finally {
      this.#publish(
        { method, path, status, code, ms: this.#options.clock.now() - started },
        operation,
      );
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
    this.#offsetMs = date - this.#options.clock.now();
    return date;
  }
}

/** Aborts when one of the two does. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other === undefined ? [signal] : [signal, other]);
}
