import * as z from "zod";
import { type Clock, type Random, sleep } from "../../core/clock.ts";
import { PlatformError, RETRY_AT_ONCE } from "../error.ts";
import type { TextAnswer } from "../http/answer.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, affected, failureStatus, reach, span } from "./active-fault.ts";

/** Fault that affects API requests. */
export interface ApiFault {
  /**
   * Effect of the fault. `hold` delays requests until the fault ends, and `slow` delays them by up to `delayMs`.
   * `status` responds with `status` and does not execute the request. `lose-answer` executes the request, then closes
   * the connection. `gateway` executes the request, then responds with `status` and a web page, as a gateway would.
   * `mix` chooses 429, 500, 503 or `lose-answer` at random.
   */
  readonly mode: "none" | "hold" | "slow" | "status" | "lose-answer" | "gateway" | "mix";
  /** Requests to match. `write` matches every method except GET and HEAD. */
  readonly match: "write" | "all";
  /** HTTP status, 300 to 599. */
  readonly status: number;
  /** Maximum delay in `slow` mode, in ms, 1 to 86,400,000. */
  readonly delayMs: number;
  /** Value of `Retry-After`, in whole seconds. Default for `status` and `mix`: 0 with 503, otherwise no header. */
  readonly retryAfterSeconds?: number | undefined;
  /** Share of requests that the fault affects, chosen at random: above 0, up to 1. Default: all requests. */
  readonly rate?: number | undefined;
  /** Number of requests that the fault will still affect. Default: all requests until the fault changes. */
  readonly times?: number | undefined;
}

/** Fault to set. Defaults: `match` is `all`, `status` is 503 (300 to 599), `delayMs` is 3000. */
export type ApiFaultInput = Pick<ApiFault, "mode" | "retryAfterSeconds" | "rate" | "times"> & {
  readonly [K in "match" | "status" | "delayMs"]?: ApiFault[K] | undefined;
};

export const apiFaultInput: z.ZodType<ApiFaultInput> = z.strictObject({
  mode: z.enum(["none", "hold", "slow", "status", "lose-answer", "gateway", "mix"]),
  match: z.enum(["write", "all"]).optional(),
  status: failureStatus.optional(),
  delayMs: span.optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
  ...affected,
});

/** The API fault and its current effect. */
export interface ApiFaultState extends ApiFault {
  /** Number of requests that the fault is holding. */
  readonly held: number;
}

export type MetFault = ApiFault & { readonly mode: Exclude<ApiFault["mode"], "none" | "mix"> };

const NONE: ApiFault = { mode: "none", match: "all", status: 503, delayMs: 3_000 };

/** Statuses that `mix` chooses from, in addition to lost responses. */
const MIXED_STATUSES = [429, 500, 503];

export class ApiFaults {
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #held = new Set<() => void>();
  readonly #active: ActiveFault<ApiFault>;

  /** @param clock the machine's clock, because slow requests are delayed in real time */
  constructor(timeline: Timeline, random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
    this.#active = new ActiveFault({
      none: NONE,
      target: "api",
      timeline,
      random,
      describe,
      afterwards: "no further requests are affected",
    });
  }

  get state(): ApiFaultState {
    return { ...this.#active.current, held: this.#held.size };
  }

  /** Replaces the fault, and executes the requests that the old fault was holding. */
  set({ match, status, delayMs, ...fault }: ApiFaultInput): void {
    this.#active.set({
      ...fault,
      match: match ?? NONE.match,
      status: status ?? NONE.status,
      delayMs: delayMs ?? NONE.delayMs,
    });
    const held = [...this.#held];
    this.#held.clear();
    for (const release of held) release();
  }

  end(): void {
    if (this.#active.current.mode !== "none" || this.#held.size > 0) this.set({ mode: "none" });
  }

  /**
   * Returns the fault for a request, or `undefined` if there is none. A held or slow request waits here until the fault
   * ends, the client disconnects, or the delay is over.
   */
  async meet(request: {
    readonly method: string;
    readonly path: string;
    readonly gone: AbortSignal;
    readonly eventId?: string | undefined;
    readonly bot?: string | undefined;
  }): Promise<MetFault | undefined> {
    const fault = this.#unmix(this.#take(request.method));
    if (fault?.mode !== "hold" && fault?.mode !== "slow") return fault;
    const { eventId, bot, gone } = request;
    const about = eventId === undefined || bot === undefined ? undefined : { eventId, bot };
    const note = (change: "held" | "released") => {
      // Add no entry, because `slow` also delays every poll, and the entries would flood the timeline.
      if (fault.mode === "slow" && about === undefined) return;
      this.#active.note(change, `${request.method} ${request.path}`, about);
    };
    note("held");
    await this.#hold(gone, fault.mode === "slow" ? fault.delayMs : Number.POSITIVE_INFINITY);
    if (!gone.aborted) note("released");
    return fault;
  }

  #take(method: string): ApiFault {
    const write = method !== "GET" && method !== "HEAD";
    return this.#active.current.match === "write" && !write ? NONE : this.#active.take();
  }

  #unmix(fault: ApiFault): MetFault | undefined {
    const { mode } = fault;
    if (mode === "none") return undefined;
    if (mode !== "mix") return { ...fault, mode };
    const status = MIXED_STATUSES[Math.floor(this.#random() * (MIXED_STATUSES.length + 1))];
    return status === undefined
      ? { ...fault, mode: "lose-answer" }
      : { ...fault, mode: "status", status };
  }

  async #hold(gone: AbortSignal, ms: number): Promise<void> {
    const fault = new AbortController();
    const release = () => fault.abort();
    this.#held.add(release);
    const ended = AbortSignal.any([fault.signal, gone]);
    await sleep(this.#clock, ms, ended, { background: true });
    this.#held.delete(release);
  }
}

function describe(fault: ApiFault): string {
  const { mode, match, status, delayMs } = fault;
  const details: Partial<Record<ApiFault["mode"], string>> = {
    status: ` ${status}`,
    gateway: ` ${status}`,
    slow: ` by ${delayMs} ms`,
  };
  return `${mode}${details[mode] ?? ""} for ${reach(fault, match === "write" ? "write requests" : "requests")}`;
}

export function injectedError({ status, retryAfterSeconds }: MetFault): PlatformError {
  return new PlatformError(
    status,
    status === 429 ? "RATE_LIMITED" : "INJECTED_FAULT",
    "An injected fault rejected this request. It was not executed.",
    status === 503 && retryAfterSeconds === undefined
      ? RETRY_AT_ONCE
      : retryAfter(retryAfterSeconds),
  );
}

/** Returns an error page like a gateway's, without the platform's error code. */
export function gatewayPage({ status, retryAfterSeconds }: MetFault): TextAnswer {
  return {
    status,
    headers: { ...retryAfter(retryAfterSeconds), "content-type": "text/html; charset=utf-8" },
    body: `<html><head><title>${status}</title></head><body>${status}</body></html>\n`,
  };
}

function retryAfter(seconds: number | undefined): Readonly<Record<string, string>> {
  return seconds === undefined ? {} : { "Retry-After": String(seconds) };
}
