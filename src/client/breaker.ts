import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { ApiError, NetworkError, outageOf } from "../errors.ts";
import { Circuit, type Pass } from "./circuit.ts";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Told when requests are held back, and when they go out again. */
  readonly onChange?: ((change: BreakerChange) => void) | undefined;
}

export interface BreakerChange {
  /** `platform`, or an operation whose quota is used up, such as `POST dm`. */
  readonly of: string;
  readonly open: boolean;
  /** Until the platform is tried again, in milliseconds; 0 when it is closed. */
  readonly retryInMs: number;
}

/** What a request may do, and what must be told when it ends. */
export interface Permit {
  succeeded(): void;
  failed(error: unknown): void;
}

/** So many outages in a row mean that the next request is not worth trying. */
const THRESHOLD = 5;

/** Between two tries of a platform that is away, in milliseconds. */
const PLATFORM: BackoffOptions = { baseMs: 1_000, maxMs: 30_000, factor: 2 };

/** Between two tries of an operation whose daily quota is used up, in milliseconds. */
const QUOTA: BackoffOptions = { baseMs: 60_000, maxMs: 900_000, factor: 2 };

/** Refusals that concern one operation alone, by the codes of section 7 of the platform document. */
const ofOneOperation: ReadonlySet<string> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

/**
 * Keeps requests back while they are known to fail, so that a dead platform is not hammered by every
 * lane: after five outages in a row, or at once where a 429 says how long to wait. Then one request at
 * a time tries whether the platform is back. What was held back was never sent.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #platform: Circuit;
  readonly #operations = new Map<string, Circuit>();

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#platform = this.#circuit("platform", THRESHOLD, PLATFORM);
  }

  /**
   * @param operation method and collection, such as `POST dm`
   * @throws {NetworkError} API_CIRCUIT_OPEN
   */
  enter(operation: string): Permit {
    const own = this.#operations.get(operation);
    const ownPass = own === undefined ? undefined : admit(own);
    let pass: Pass;
    try {
      pass = admit(this.#platform);
    } catch (error) {
      if (ownPass !== undefined) own?.left(ownPass);
      throw error;
    }
    return {
      succeeded: () => {
        this.#platform.succeeded();
        own?.succeeded();
      },
      failed: (error) => {
        const kind = classify(error);
        const waitMs = outageOf(error)?.retryAfterMs;
        if (kind === "outage") this.#platform.failed(pass, waitMs);
        else if (kind === "unknown") this.#platform.left(pass);
        else this.#platform.succeeded();
        if (kind === "operation") this.#limited(operation).failed(ownPass ?? "normal", waitMs);
        else if (ownPass !== undefined) own?.left(ownPass);
      },
    };
  }

  #limited(operation: string): Circuit {
    const known = this.#operations.get(operation);
    if (known !== undefined) return known;
    const circuit = this.#circuit(operation, 1, QUOTA);
    this.#operations.set(operation, circuit);
    return circuit;
  }

  #circuit(name: string, threshold: number, policy: BackoffOptions): Circuit {
    const { clock, random, onChange } = this.#options;
    return new Circuit({
      name,
      clock,
      threshold,
      // Between half and the whole of the bound: many processes must not come back at one moment.
      cooldown: (opened) => backoff(policy, opened, () => 0.5 + random() / 2),
      onChange: (open, retryInMs) => onChange?.({ of: name, open, retryInMs }),
    });
  }
}

function admit(circuit: Circuit): Pass {
  const pass = circuit.enter();
  if (typeof pass === "string") return pass;
  const { retryInMs } = pass;
  const why =
    circuit.name === "platform"
      ? "the platform has not answered the last requests"
      : `the quota of "${circuit.name}" is used up`;
  throw new NetworkError(
    "API_CIRCUIT_OPEN",
    `Not sent: ${why}; it is tried again in ${Math.ceil(retryInMs / 1000)} s.`,
    { sent: false, retryAfterMs: retryInMs },
  );
}

/** `answered`: the platform is there, whatever it thinks of the request. `unknown`: the caller gave up. */
function classify(error: unknown): "outage" | "operation" | "answered" | "unknown" {
  if (error instanceof ApiError && ofOneOperation.has(error.platformCode ?? "")) {
    return error.status === 429 || error.status === 503 ? "operation" : "answered";
  }
  if (outageOf(error) !== undefined) return "outage";
  return error instanceof ApiError ? "answered" : "unknown";
}
