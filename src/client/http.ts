import type { Random } from "../core/backoff.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { scrubber } from "../core/redact.ts";
import { messageOf, NetworkError, ServiceBotError } from "../errors.ts";
import type { BreakerChange } from "./breaker.ts";
import type { BudgetWait, RequestsStatus } from "./budget.ts";
import { readFailure } from "./failure.ts";
import { Gate } from "./gate.ts";

/** The part of `fetch` that the client calls. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  /** The bearer token. It is sent to `baseUrl` alone, and never across a redirect. */
  readonly apiKey: string;
  /** Deadline of one request, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number;
  readonly fetch?: Fetch;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Called after each request, for logs and metrics. `status` is absent when no answer came. */
  readonly onRequest?: (request: RequestReport) => void;
  /** At most so many requests in any 60 seconds, from 1 up. No limit by default. */
  readonly maxRequestsPerMinute?: number | undefined;
  /** Called when requests begin to wait for that limit, at most once a minute. */
  readonly onBudget?: (wait: BudgetWait) => void;
  /** Called when requests are held back because the platform is away, and when they go out again. */
  readonly onBreaker?: (change: BreakerChange) => void;
}

export interface RequestReport {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly ms: number;
}

export interface RequestOptions {
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** A read of the event log on the bot's own behalf; whatever else it is counts as a handler's. */
  readonly purpose?: LogPurpose | undefined;
}

/** Why the event log is read: to look for what the webhook lost, or because it brings nothing. */
export type LogPurpose = "audit" | "poll";

/** An answer whose body is JSON. */
export interface Answer {
  readonly body: unknown;
  /** The platform's clock when it answered (the `Date` header, whole seconds), in ms since 1970. */
  readonly date: number | undefined;
}

/** Requests to `{base_url}/api/v1` (section 4 of the platform document) with everything they share. */
export class Http {
  /** Deadline of one request, in milliseconds. */
  readonly timeoutMs: number;
  readonly #options: HttpOptions;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #gate: Gate;
  #offsetMs: number | undefined;

  /** @throws {ServiceBotError} INVALID_OPTION */
  constructor(options: HttpOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#clock = options.clock ?? systemClock;
    this.timeoutMs = options.timeoutMs ?? 10_000;
    this.#gate = new Gate({
      ...options,
      clock: this.#clock,
      random: options.random ?? Math.random,
    });
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
   * @throws {ApiError} API_ERROR, API_REDIRECT
   * @throws {NetworkError} API_UNREACHABLE, API_TIMEOUT, API_CIRCUIT_OPEN, API_BUDGET_SPENT
   * @throws {ServiceBotError} API_INVALID_RESPONSE
   */
  async request(
    method: "GET" | "POST",
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer> {
    const url = this.#url(path, options.query);
    const body = options.body === undefined ? null : JSON.stringify(options.body);
    const headers = this.#headers(body);
    const operation = `${method} ${path.split("/", 2)[1]}`;
    const kind = options.purpose ?? (method === "GET" ? "read" : "write");
    const entered = this.#gate.enter(operation, kind, options.signal);
    const permit = entered instanceof Promise ? await entered : entered;
    const started = this.#clock.now();
    let status: number | undefined;
    try {
      const answer = await this.#withDeadline(
        `${method} ${path}`,
        options.signal,
        async (signal) => {
          const init: RequestInit = { method, headers, body, redirect: "manual", signal };
          const response = await this.#fetch(url, init);
          status = response.status;
          const date = this.#readDate(response);
          if (!response.ok) {
            throw await readFailure(response, `${method} ${path}`, {
              now: date ?? this.#clock.now(),
              scrub: scrubber([this.#options.apiKey, ...textsOf(options.body)]),
            });
          }
          return { body: await readJson(response, `${method} ${path}`), date };
        },
      );
      permit.succeeded();
      return answer;
    } catch (error) {
      permit.failed(error);
      throw error;
    } finally {
      this.#options.onRequest?.({ method, path, status, ms: this.#clock.now() - started });
    }
  }

  /** One deadline for the whole exchange, the body included; errors of the transport become ours. */
  async #withDeadline<T>(
    request: string,
    signal: AbortSignal | undefined,
    exchange: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = new AbortController();
    const cancel = this.#clock.timer(this.timeoutMs, () => deadline.abort());
    try {
      return await exchange(
        AbortSignal.any(signal ? [deadline.signal, signal] : [deadline.signal]),
      );
    } catch (error) {
      if (error instanceof ServiceBotError) throw error;
      if (signal?.aborted) throw signal.reason;
      if (deadline.signal.aborted) throw this.#timedOut(request, error);
      throw this.#unreachable(request, error);
    } finally {
      cancel();
    }
  }

  #url(path: string, query: RequestOptions["query"] = {}): string {
    const url = new URL(`${this.#options.baseUrl.replace(/\/+$/, "")}/api/v1${path}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  #headers(body: string | null): Record<string, string> {
    return {
      accept: "application/json",
      authorization: `Bearer ${this.#options.apiKey}`,
      ...(body === null ? {} : { "content-type": "application/json" }),
    };
  }

  #readDate(response: Response): number | undefined {
    const date = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(date)) return undefined;
    this.#offsetMs = date - this.#clock.now();
    return date;
  }

  #timedOut(request: string, cause: unknown): NetworkError {
    return new NetworkError(
      "API_TIMEOUT",
      `${request}: no answer from ${this.#options.baseUrl} within ${this.timeoutMs} ms.`,
      { cause, sent: true },
    );
  }

  #unreachable(request: string, error: unknown): NetworkError {
    const code = causeCode(error);
    const sent = !neverConnected.has(code ?? "");
    const why = code === "ECONNREFUSED" ? "nothing listens there" : (code ?? messageOf(error));
    const what = sent
      ? `the connection to ${this.#options.baseUrl} broke before the answer came (${why}).`
      : `${this.#options.baseUrl} cannot be reached (${why}). ` +
        "Is the platform running, and is SERVICE_BASE_URL right?";
    return new NetworkError("API_UNREACHABLE", `${request}: ${what}`, { cause: error, sent });
  }
}

/** Longer values are images, which nobody quotes. */
function isQuotable(value: string): boolean {
  return value.length < 100_000;
}

/** What somebody is about to be told; platforms quote it in their errors, ours do not. */
function textsOf(body: unknown): string[] {
  const fields: unknown[] = typeof body === "object" && body !== null ? Object.values(body) : [];
  return fields.filter((value) => typeof value === "string").filter(isQuotable);
}

/** System errors after which the request cannot have reached the platform. */
const neverConnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** `fetch` throws a bare TypeError; the system's code is in its cause, sometimes in one of several. */
function causeCode(error: unknown): string | undefined {
  for (let at: unknown = error; typeof at === "object" && at !== null; ) {
    if ("code" in at && typeof at.code === "string") return at.code;
    if ("errors" in at && Array.isArray(at.errors)) at = at.errors[0];
    else at = "cause" in at ? at.cause : undefined;
  }
  return undefined;
}

async function readJson(response: Response, request: string): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceBotError(
      "API_INVALID_RESPONSE",
      `${request}: the answer (${response.status}) is not JSON. Is SERVICE_BASE_URL the platform's origin?`,
      { cause },
    );
  }
}
