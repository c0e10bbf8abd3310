import { addressProblem, normalizeAddress, tokenProblem } from "../core/addresses.ts";
import type { Random } from "../core/clock.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import {
  COUNT,
  type OptionTable,
  optionProblems,
  refuseProblems,
  TIME_LIMIT,
} from "../core/option-checks.ts";
import type { ErrorCode } from "../errors.ts";
import type { BreakerChange } from "./breaker.ts";
import type { BudgetWait } from "./request-limiter.ts";

/** The part of `fetch` that the client calls. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options that all requests of a client share. */
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
  /** Called for each request that was not sent because the budget is spent or the platform away; with the code. */
  readonly onHeldBack?: (code: ErrorCode) => void;
  /** Called when requests begin to wait for that limit, at most once a minute. */
  readonly onBudget?: (wait: BudgetWait) => void;
  /** Called when requests are held back because the platform is away, and when they go out again. */
  readonly onBreaker?: (change: BreakerChange) => void;
}

const OPTIONS: OptionTable<HttpOptions> = {
  baseUrl: true,
  apiKey: true,
  timeoutMs: TIME_LIMIT,
  retries: { max: 10, whole: true },
  fetch: true,
  clock: true,
  random: true,
  onRequest: true,
  maxRequestsPerMinute: COUNT,
  onHeldBack: true,
  onBudget: true,
  onBreaker: true,
};

/** One request that was sent, as `onRequest` gets it. */
export interface RequestReport {
  readonly method: string;
  /** Below `/api/v1`, with the query. */
  readonly path: string;
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Code of the error; absent when the request succeeded, and when its caller gave up. */
  readonly code?: ErrorCode | undefined;
  /** Duration in milliseconds. */
  readonly ms: number;
}

/** {@link HttpOptions} with their defaults. Observers cannot fail a request. */
export type ResolvedOptions = HttpOptions &
  Required<Pick<HttpOptions, "timeoutMs" | "fetch" | "clock" | "random">> & {
    readonly retries: number;
  };

/** @throws {ServiceBotError} INVALID_OPTION */
export function resolveOptions(options: HttpOptions): ResolvedOptions {
  const { baseUrl, apiKey, timeoutMs = 10_000, retries = 2 } = options;
  refuseProblems([
    ...optionProblems(options, OPTIONS),
    problem("baseUrl", addressProblem(baseUrl)),
    problem("apiKey", tokenProblem(apiKey)),
  ]);
  return {
    ...options,
    timeoutMs,
    retries,
    baseUrl: normalizeAddress(baseUrl),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    ...quietly(options),
  };
}

/** Returns the observers, unable to fail a request: what they throw is dropped. */
function quietly(
  options: HttpOptions,
): Pick<HttpOptions, "onRequest" | "onHeldBack" | "onBudget" | "onBreaker"> {
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
    // Called at once, which keeps the order of log lines.
    const observed = async () => await observe(news);
    observed().catch(() => undefined);
  };
}

function problem(name: string, what: string | undefined): string | undefined {
  return what === undefined ? undefined : `${name} ${what}`;
}
