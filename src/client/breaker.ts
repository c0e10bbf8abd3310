import type { Clock } from "../core/clock.ts";
import { type BackoffOptions, backoff, type Random } from "../core/clock.ts";
import { Circuit, type Pass } from "./circuit.ts";
import { ApiError, apiErrorOf, isUnexplained, NetworkError, outageOf } from "./errors.ts";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Called when requests are held back, and when they go out again. */
  readonly onChange?: ((change: BreakerChange) => void) | undefined;
}

/** Requests are held back because the platform or one operation is away, or the token is refused; or they go out again. */
export interface BreakerChange {
  /** `platform`, `token`, or an operation that is away or whose quota is used up, such as `POST /posts`. */
  readonly of: string;
  /**
   * `quota` if the operation's daily quota is used up, `token` if the platform refuses the token or the app. Requests
   * can be held back for several reasons at once.
   */
  readonly why: "outages" | "quota" | "token";
  /** True when requests are held back from now on. */
  readonly open: boolean;
  /** Until the platform is tried again, in milliseconds; 0 when it is closed. */
  readonly retryInMs: number;
  /** The answer that refused the token, when requests are held back because of it. */
  readonly error?: ApiError | undefined;
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
 * Holds requests back while they are known to fail, so that a dead platform is not hammered by every lane: after five
 * outages in a row, or at once if a 429 names a wait. Then one request at a time tries whether the platform is back. Each
 * operation has circuits of its own for its outages and its quota; all share the circuit of the token.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #platform: Circuit;
  readonly #token: Circuit;
  readonly #operations = new Map<string, Operation>();
  /** The answer that refused the token last. */
  #refusal: ApiError | undefined;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#platform = this.#circuit("platform", "outages", OUTAGE_WAITS);
    this.#token = this.#circuit("token", "token", TOKEN_WAITS, 1);
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
    check(outages, `the last requests of "${operation}" have failed`);
    const requested = "the platform asked for a pause";
    const away = "the platform has not answered the last requests";
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
    if (error instanceof ApiError && error.refusesToken) {
      this.#refusal = error;
      this.#token.refused(pass, 0);
    } else if (answered && !isUnexplained(error)) {
      this.#token.succeeded(pass);
    } else {
      // An unexplained 403 may concern this request alone. The probe that explains it is the trial then.
      this.#token.left(pass);
    }
  }

  /** The refusal is thrown anew, so that each caller sees the reason. */
  #checkToken(): void {
    const retryAfterMs = this.#token.heldBackMs();
    if (retryAfterMs === 0 || this.#refusal === undefined) return;
    const { status, platformCode } = this.#refusal;
    const seconds = Math.ceil(retryAfterMs / 1000);
    throw apiErrorOf(
      `Not sent: the platform refuses the token or the app (${status}); it is tried again in ${seconds} s. ` +
        "Check SERVICE_API_KEY (apiKey), and in the developer portal whether the app is enabled.",
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
      outages: this.#circuit(name, "outages", OUTAGE_WAITS),
      quota: this.#circuit(name, "quota", QUOTA_WAITS),
    };
    this.#operations.set(name, operation);
    return operation;
  }

  #circuit(
    of: string,
    why: BreakerChange["why"],
    waits: BackoffOptions,
    threshold = THRESHOLD,
  ): Circuit {
    const { clock, random, onChange } = this.#options;
    return new Circuit({
      clock,
      threshold,
      // Between half and the whole of the bound, because many processes must not come back at one moment.
      cooldownMs: (opened) => backoff(waits, opened, () => 0.5 + random() / 2),
      onChange: (open, retryInMs) => {
        const error = open && why === "token" ? { error: this.#refusal } : {};
        onChange?.({ of, why, open, retryInMs, ...error });
      },
    });
  }
}

function check(circuit: Circuit, reason: string): void {
  const retryAfterMs = circuit.heldBackMs();
  if (retryAfterMs === 0) return;
  throw new NetworkError(
    "API_CIRCUIT_OPEN",
    `Not sent: ${reason}; it is tried again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    { sent: false, retryAfterMs },
  );
}

/** `answered`: the platform is there, whatever it answers. `unknown`: the caller gave up. */
function classify(error: unknown): "outage" | "quota" | "answered" | "unknown" {
  if (error instanceof ApiError && ofOneOperation.has(error.platformCode ?? "")) {
    return error.status === 429 || error.status === 503 ? "quota" : "answered";
  }
  if (error instanceof ApiError && error.refusesToken) return "answered";
  if (outageOf(error) !== undefined) return "outage";
  return error instanceof ApiError ? "answered" : "unknown";
}
