import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { Circuit, type Pass } from "./circuit.ts";
import { ApiError, apiErrorOf } from "./errors.ts";

export interface TokenCircuitOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when it opens, with the refusal and the wait in milliseconds, and when it closes. */
  readonly onChange: (open: boolean, retryInMs: number, refusal: ApiError | undefined) => void;
}

/** Between two tries of a token that is refused, in milliseconds. The platform is asked once a minute at least. */
const WAITS: BackoffOptions = { baseMs: 5_000, maxMs: 60_000, factor: 2 };

/**
 * Keeps all requests back while the platform refuses the token or the app: one request at a time tries whether it is
 * accepted again. Each process has its own circuit, because instances may have different tokens while they are restarted.
 */
export class TokenCircuit {
  readonly #circuit: Circuit;
  /** The answer that refused the token last. */
  #refusal: ApiError | undefined;

  constructor({ clock, random, onChange }: TokenCircuitOptions) {
    this.#circuit = new Circuit({
      ...{ key: "token", name: "token", clock },
      threshold: 1,
      cooldown: (opened) => backoff(WAITS, opened, () => 0.5 + random() / 2),
      onChange: (open, retryInMs) => onChange(open, retryInMs, this.#refusal),
    });
  }

  /** How long to wait before the next request, in milliseconds; 0 when it may go now. */
  heldBackMs(): number {
    return this.#circuit.heldBackMs();
  }

  /** @throws {ApiError} the refusal anew, with `local` true, so that its caller sees the reason */
  check(): void {
    const retryAfterMs = this.heldBackMs();
    if (retryAfterMs === 0 || this.#refusal === undefined) return;
    const { status, platformCode } = this.#refusal;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw apiErrorOf(
      `Not sent: the platform refuses the token or the app (${status}); it is tried again in ${seconds} s. ` +
        "Check SERVICE_API_KEY (apiKey), and in the developer portal whether the app is enabled.",
      { status, platformCode, retryAfterMs, refusesToken: true, local: true },
    );
  }

  enter(): Pass {
    return this.#circuit.enter();
  }

  succeeded(pass: Pass): void {
    this.#circuit.succeeded(pass);
  }

  /** @param answered whether the platform has answered, so that it has seen the token */
  failed(pass: Pass, error: unknown, answered: boolean): void {
    if (error instanceof ApiError && error.refusesToken) {
      this.#refusal = error;
      this.#circuit.refused(pass, 0);
    } else if (answered && !isUnexplained(error)) {
      this.#circuit.succeeded(pass);
    } else {
      // An unexplained 403 may concern this request alone. The probe that explains the 403 is the trial then.
      this.#circuit.left(pass);
    }
  }
}

/** True for a 403 that section 7 does not explain: it may concern one request, or the whole app. */
export function isUnexplained(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || error.refusesToken) return false;
  const { status, code, platformCode = "" } = error;
  return status === 403 && code === "API_ERROR" && !/SCOPE|PERMISSION/i.test(platformCode);
}
