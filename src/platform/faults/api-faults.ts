import { type Clock, type Random, sleep } from "../../core/clock.ts";
import { PlatformError, RETRY_AT_ONCE } from "../error.ts";
import type { TextAnswer } from "../http/answer.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { ActiveFault, reach } from "./active-fault.ts";

/** Fault of requests to the API. */
export interface ApiFault {
  /**
   * `hold`: requests wait before they are executed; `slow`: likewise, for `delayMs` at most; `status`: they are answered with `status` and not
   * executed; `lose-answer`: they are executed, and the connection is cut before the answer; `gateway`: they are
   * executed, and a gateway answers with `status` and a web page; `mix`: each gets one of 429, 500, 503 and
   * `lose-answer`, at random.
   */
  readonly mode: "none" | "hold" | "slow" | "status" | "lose-answer" | "gateway" | "mix";
  /** `write`: everything but GET and HEAD. */
  readonly match: "write" | "all";
  /** 300 to 599. */
  readonly status: number;
  /** Wait of mode `slow` in ms, 1 to 86,400,000. */
  readonly delayMs: number;
  /** Sent as `Retry-After`, in whole seconds. Default of `status` and `mix`: 0 with 503, none otherwise. */
  readonly retryAfterSeconds?: number | undefined;
  /** The share of the requests that is touched, chosen at random: above 0, up to 1. Absent: all. */
  readonly rate?: number | undefined;
  /** Requests that the fault still applies to. Absent: all, until it is changed. */
  readonly times?: number | undefined;
}

/** A fault to set: `match` is `all` unless said otherwise, `status` (300 to 599) is 503, `delayMs` is 3000. */
export type ApiFaultInput = Pick<ApiFault, "mode" | "retryAfterSeconds" | "rate" | "times"> & {
  readonly [K in "match" | "status" | "delayMs"]?: ApiFault[K] | undefined;
};

/** The fault of the API, and what it does at present. */
export interface ApiFaultState extends ApiFault {
  /** How many requests are waiting. */
  readonly held: number;
}

/** A fault that a request has met. */
export type MetFault = ApiFault & { readonly mode: Exclude<ApiFault["mode"], "none" | "mix"> };

const NONE: ApiFault = { mode: "none", match: "all", status: 503, delayMs: 3_000 };

/** Faults in `mix`, besides lost answers. */
const MIXED_STATUSES = [429, 500, 503];

/** Lets requests to the API go wrong. */
export class ApiFaults {
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #held = new Set<() => void>();
  readonly #active: ActiveFault<ApiFault>;

  /** @param clock the machine's: it measures how long a request takes */
  constructor(timeline: Timeline, random: Random, clock: Clock) {
    this.#random = random;
    this.#clock = clock;
    this.#active = new ActiveFault({
      ...{ none: NONE, target: "api", timeline, random, describe },
      afterwards: "no further requests are touched",
    });
  }

  get state(): ApiFaultState {
    return { ...this.#active.current, held: this.#held.size };
  }

  /** Replaces the fault. What the one before held is executed now. */
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

  /** Ends the fault, if there is one, and lets go of what it holds. */
  end(): void {
    if (this.#active.current.mode !== "none" || this.#held.size > 0) this.set({ mode: "none" });
  }

  /**
   * Returns the fault that a request meets, `undefined` if it meets none. A request that is held waits here until the
   * fault ends, its client goes away, or the delay of a slow API is over.
   */
  async meet(request: {
    readonly method: string;
    readonly path: string;
    readonly gone: AbortSignal;
    /** The event because of which the bot sends the request. */
    readonly eventId?: string | undefined;
    /** The username of that bot. */
    readonly bot?: string | undefined;
  }): Promise<MetFault | undefined> {
    const fault = this.#unmix(this.#take(request.method));
    if (fault?.mode !== "hold" && fault?.mode !== "slow") return fault;
    const { eventId, bot, gone } = request;
    const about = eventId === undefined || bot === undefined ? undefined : { eventId, bot };
    const note = (change: "held" | "released") => {
      // A slow API touches each poll: only requests because of an event are worth a line.
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

  /** Chooses one of a mix. */
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

/** Refuses a request, which is not executed. */
export function refusal({ status, retryAfterSeconds }: MetFault): PlatformError {
  return new PlatformError(
    status,
    status === 429 ? "RATE_LIMITED" : "INJECTED_FAULT",
    "A fault of the local platform answers this request; it was not executed.",
    status === 503 && retryAfterSeconds === undefined
      ? RETRY_AT_ONCE
      : retryAfter(retryAfterSeconds),
  );
}

/** Makes the page of a gateway that gave up on the platform. Nothing in it is the platform's own. */
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
