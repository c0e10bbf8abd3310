import { addressProblem, isLoopback, normalizeAddress, tokenProblem } from "../core/addresses.ts";
import { type Clock, type Random, sleep, systemClock } from "../core/clock.ts";
import { ANYTHING, CLOCK, COUNT, FUNCTION, numberIn, TIME_LIMIT } from "../core/kinds.ts";
import { inspectOptions, type OptionTable, refuseProblems } from "../core/option-checks.ts";
import type { Shape } from "../core/shapes.ts";
import { aboutEvent, headerOfEvent } from "../core/trace.ts";
import { type ErrorCode, isError, ServiceBotError } from "../errors.ts";
import { channels, traced, type WorkMessages, works } from "../observe/channels.ts";
import { Breaker, type CircuitStatus, type Pass } from "./breaker.ts";
import { ApiError, NetworkError } from "./errors.ts";
import { type ApiRequest, buildRequest, type Method, type RequestOptions } from "./request.ts";
import { type Permit, RequestLimiter } from "./request-limiter.ts";
import { check } from "./resources.ts";
import { readAnswer } from "./response.ts";
import { retryInMs } from "./retries.ts";
import { TokenProbe, withTokenRefused } from "./token-probe.ts";
import { type ApiResponse, type Fetch, type Transport, transportOf } from "./transport.ts";
import { timedOut, unreachable } from "./unreachable.ts";

/** Options for a client. */
export interface ClientOptions {
  /** The platform's URL, without `/api/v1`. May include a path. */
  readonly baseUrl: string;
  /** Bearer token. Sent only to `baseUrl`, never to the target of a redirect. */
  readonly apiKey: string;
  /** Deadline for one request, including its retries, in ms. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Maximum number of retries per request, 0 to 10. Default 2. */
  readonly retries?: number | undefined;
  /** Function that sends requests. Default: `node:http`. */
  readonly fetch?: Fetch | undefined;
  /** Source of time. Default: this machine's clock. */
  readonly clock?: Clock | undefined;
  /** Source of randomness for jitter. Default `Math.random`. */
  readonly random?: Random | undefined;
  /** Maximum number of requests in any 60 seconds, at least 1. Default: no limit. */
  readonly maxRequestsPerMinute?: number | undefined;
}

const OPTIONS: OptionTable<ClientOptions> = {
  baseUrl: ANYTHING,
  apiKey: ANYTHING,
  timeoutMs: TIME_LIMIT,
  retries: numberIn({ max: 10, whole: true }),
  fetch: FUNCTION,
  clock: CLOCK,
  random: FUNCTION,
  maxRequestsPerMinute: COUNT,
};

export interface Answer<T> {
  readonly value: T;
  /** Time of the response on the platform's clock (the `Date` header, in whole seconds), in ms since 1970. */
  readonly date: number | undefined;
}

interface Admission {
  readonly pass: Pass;
  readonly permit: Permit | undefined;
}

/**
 * Sends requests to `{base_url}/api/v1` (section 4 of the platform document). Each attempt passes the limiter, which
 * counts requests, and the breaker, which holds requests back during an outage. A failed request is retried if
 * repeating it is safe.
 */
export class Http {
  readonly timeoutMs: number;
  /** `undefined` without a request budget. */
  readonly limiter: RequestLimiter | undefined;
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #retries: number;
  readonly #send: Transport;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #sender: object | undefined;
  readonly #breaker: Breaker;
  readonly #probe: TokenProbe;
  /** Requests carry the id of their handler's event only if the platform runs on this machine. */
  readonly #isLocal: boolean;
  #offsetMs: number | undefined;

  /**
   * @param sender the bot object that channel messages contain
   * @throws {ServiceBotError} INVALID_OPTION
   */
  constructor(options: ClientOptions, sender?: object) {
    const { values, problems } = inspectOptions(options, OPTIONS);
    const { baseUrl, apiKey, fetch, clock = systemClock, random = Math.random } = values;
    const { maxRequestsPerMinute: perMinute, timeoutMs = 10_000, retries = 2 } = values;
    const address = addressProblem(baseUrl);
    const token = tokenProblem(apiKey);
    refuseProblems([address && `baseUrl ${address}`, token && `apiKey ${token}`, ...problems]);
    this.timeoutMs = timeoutMs;
    this.#baseUrl = normalizeAddress(baseUrl);
    this.#apiKey = apiKey;
    this.#retries = retries;
    this.#send = transportOf(fetch);
    this.#clock = clock;
    this.#random = random;
    this.#sender = sender;
    this.#isLocal = isLoopback(new URL(baseUrl).hostname);
    this.#breaker = new Breaker({ clock, random, bot: sender });
    if (perMinute !== undefined) {
      this.limiter = new RequestLimiter({ perMinute, clock, random, bot: sender });
    }
    this.#probe = new TokenProbe(clock, (signal) => this.#readConversations(signal));
  }

  get offsetMs(): number {
    return this.#offsetMs ?? 0;
  }

  get circuits(): readonly CircuitStatus[] {
    return this.#breaker.open;
  }

  platformNow(): number | undefined {
    return this.#offsetMs === undefined ? undefined : this.now();
  }

  now(): number {
    return this.#clock.now() + this.offsetMs;
  }

  /**
   * Sends a request and checks its response.
   *
   * @param template path below `/api/v1`, with the id as `{id}`
   * @param answer shape of the response
   * @throws {ApiError} with the platform's code, API_ERROR or API_REDIRECT
   * @throws {NetworkError} API_UNREACHABLE, API_TIMEOUT, API_CIRCUIT_OPEN, API_BUDGET_SPENT
   * @throws {ServiceBotError} API_INVALID_RESPONSE, INVALID_ID, INVALID_OPTION
   * @throws the signal's reason, once it aborts
   */
  async request<T>(
    method: Method,
    template: string,
    answer: Shape<T>,
    options: RequestOptions = {},
  ): Promise<Answer<T>> {
    const { signal } = options;
    const request = this.#build(method, template, options);
    signal?.throwIfAborted();
    // The wait for the first permit does not count toward the deadline.
    const first = await this.#admit(request, signal);
    const endsAt = this.#clock.now() + this.timeoutMs;
    // Not `AbortSignal.any`, which takes longer than the rest of this method.
    const either = new AbortController();
    const abort = () => either.abort(signal?.reason);
    const cancel = this.#clock.timer(this.timeoutMs, () => either.abort());
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    try {
      const { value, date } = await this.#sendUntil(endsAt, request, first, either.signal);
      return { value: check(answer, value, request.name), date };
    } catch (error) {
      if (isError(error) && error instanceof ServiceBotError) {
        throw await this.#probe.explain(error, either.signal);
      }
      if (signal?.aborted) throw signal.reason;
      if (!either.signal.aborted) throw error;
      throw timedOut(request.name, this.#baseUrl, this.timeoutMs, error);
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  /**
   * Runs work that precedes a request, and abandons it at the request's deadline, because a stuck Blob or disk must not
   * block the caller.
   *
   * @throws {NetworkError} API_TIMEOUT, with `sent` false
   * @throws the signal's reason, once it aborts
   */
  async prepare<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = new AbortController();
    const message = `Not sent because reading the images took longer than ${this.timeoutMs} ms.`;
    const cancel = this.#clock.timer(this.timeoutMs, () =>
      deadline.abort(new NetworkError("API_TIMEOUT", message, { sent: false })),
    );
    const either = eitherOf(deadline.signal, signal);
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(either.reason);
    either.addEventListener("abort", abort);
    try {
      return await Promise.race([work(either), aborted.promise]);
    } finally {
      cancel();
      either.removeEventListener("abort", abort);
    }
  }

  #build(method: Method, template: string, options: RequestOptions): ApiRequest {
    const event = this.#isLocal ? headerOfEvent() : undefined;
    const access = { baseUrl: this.#baseUrl, apiKey: this.#apiKey, event };
    return buildRequest(method, template, options, access);
  }

  async #sendUntil(
    endsAt: number,
    request: ApiRequest,
    first: Admission,
    signal: AbortSignal,
  ): Promise<Answer<unknown>> {
    const { method, kind } = request;
    // The poller retries its requests itself.
    const retries = kind === "audit" || kind === "poll" ? 0 : this.#retries;
    for (let number = 1, admission = first; ; number++) {
      try {
        return await this.#attempt(request, number, admission, signal);
      } catch (error) {
        if (number > retries) throw error;
        const waitMs = retryInMs(method, error, number, this.#random);
        if (waitMs === undefined || this.#clock.now() + waitMs >= endsAt) throw error;
        await sleep(this.#clock, waitMs, signal);
        signal.throwIfAborted();
      }
      // A retry needs its own permit, and the breaker may have opened meanwhile.
      admission = await this.#admit(request, signal);
    }
  }

  async #admit(
    { operation, kind }: ApiRequest,
    signal: AbortSignal | undefined,
  ): Promise<Admission> {
    try {
      // Check first, because a request that the breaker holds back need not wait for a permit.
      this.#breaker.check(operation);
      const permit = await this.limiter?.take(kind, signal);
      try {
        // Enter last, because a waiting trial would hold back all other requests.
        return { pass: this.#breaker.enter(operation), permit };
      } catch (error) {
        permit?.giveBack();
        throw error;
      }
    } catch (error) {
      if (error instanceof ServiceBotError) {
        // While the token is rejected, the breaker throws the platform's error, but an open circuit held this request
        // back.
        const code = error instanceof ApiError ? "API_CIRCUIT_OPEN" : error.code;
        channels["held-back"].publish({ bot: this.#sender, code });
      }
      throw error;
    }
  }

  async #readConversations(signal: AbortSignal): Promise<void> {
    const request = this.#build("GET", "/dm/conversations", { query: { limit: 1 } });
    await this.#attempt(request, 1, await this.#admit(request, signal), signal);
  }

  async #attempt(
    request: ApiRequest,
    number: number,
    { pass, permit }: Admission,
    signal: AbortSignal,
  ): Promise<Answer<unknown>> {
    const message = () => {
      const { method, template, kind } = request;
      return { bot: this.#sender, method, template, baseUrl: this.#baseUrl, kind, number };
    };
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

  async #exchange(
    request: ApiRequest,
    signal: AbortSignal,
    work: WorkMessages["request"] | undefined,
  ): Promise<Answer<unknown>> {
    const { method, path, operation } = request;
    const startedAt = this.#clock.now();
    let status: number | undefined;
    let code: ErrorCode | undefined;
    try {
      const response = await this.#send(request, signal);
      status = response.status;
      if (work !== undefined) work.status = status;
      const date = this.#readDate(response);
      return { value: await readAnswer(response, request, date ?? this.#clock.now()), date };
    } catch (thrown) {
      const error = signal.aborted ? thrown : this.#explain(thrown, request);
      if (isError(error) && error instanceof ServiceBotError) code = error.code;
      throw error;
    } finally {
      if (channels.request.hasSubscribers) {
        const ms = this.#clock.now() - startedAt;
        const sent = { method, path, operation, status, code, ms };
        channels.request.publish({ bot: this.#sender, ...sent, ...aboutEvent() });
      }
    }
  }

  #explain(thrown: unknown, { name, operation }: ApiRequest): ServiceBotError {
    // The `fetch` option may throw any value, even one that cannot be read.
    if (!isError(thrown)) return unreachable(name, this.#baseUrl, thrown);
    if (thrown instanceof ApiError) return withTokenRefused(thrown, operation);
    if (thrown instanceof ServiceBotError) return thrown;
    return unreachable(name, this.#baseUrl, thrown);
  }

  #readDate(response: ApiResponse): number | undefined {
    const date = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(date)) return undefined;
    this.#offsetMs = date - this.#clock.now();
    return date;
  }
}

/** `AbortSignal.any`, except that the second signal may be missing. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other === undefined ? [signal] : [signal, other]);
}
