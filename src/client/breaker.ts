import { type BackoffOptions, backoff, type Random } from "../core/backoff.ts";
import type { Clock } from "../core/clock.ts";
import { Circuit, type CircuitMove, type CircuitState, type Pass } from "./circuit.ts";
import { ApiError, NetworkError, outageOf } from "./errors.ts";
import { TokenCircuit } from "./token-circuit.ts";

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Told when requests are held back, and when they go out again. */
  readonly onChange?: ((change: BreakerChange) => void) | undefined;
  /** The breakers of other processes, which open and close with this one. */
  readonly others?: OtherBreakers | undefined;
}

/** What has become of the wish to try. */
export type TrialAnswer = "granted" | "closed" | { readonly waitMs: number };

/** Lets the breakers of several processes act as one. */
export interface OtherBreakers {
  /** This process has moved a circuit. */
  tell(circuit: string, move: CircuitMove): void;
  /** Asks to be the one that tries. It never rejects. */
  ask(circuit: string): Promise<TrialAnswer>;
  /** Calls `learn` when another process has opened a circuit, or closed it: then without a state. */
  onMove(learn: (circuit: string, state: CircuitState | undefined) => void): void;
}

/** Requests are held back because the platform or one operation is away, or the token is refused; or they go out again. */
export interface BreakerChange {
  /** `platform`, `token`, or an operation that is away or whose quota is used up, such as `POST /posts`. */
  readonly of: string;
  /**
   * `quota` where the operation's daily quota is used up, `token` where the platform refuses the token or the app. Requests
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

/** What a request may do, and what must be told when it ends. */
export interface Permit {
  succeeded(): void;
  failed(error: unknown): void;
}

/** So many outages in a row mean that the next request is not worth trying. */
const THRESHOLD = 5;

/** Between two tries of a platform, or of one operation, that is away, in milliseconds. */
const OUTAGE: BackoffOptions = { baseMs: 1_000, maxMs: 30_000, factor: 2 };

/** Between two tries of an operation whose daily quota is used up, in milliseconds. */
const QUOTA: BackoffOptions = { baseMs: 60_000, maxMs: 900_000, factor: 2 };

/** Refusals that concern one operation alone, by the codes of section 7 of the platform document. */
const ofOneOperation: ReadonlySet<string> = new Set(["QUOTA_EXCEEDED", "NOT_CONFIGURED"]);

/** What keeps the requests of one operation back. */
interface Operation {
  /** Its outages, while other operations are answered. */
  readonly outages: Circuit;
  readonly quota: Circuit;
}

/** The passes of one request. */
interface Passes {
  readonly platform: Pass;
  readonly token: Pass;
  readonly outages: Pass;
  readonly quota: Pass;
}

/**
 * Keeps requests back while they are known to fail, so that a dead platform is not hammered by every
 * lane: after five outages in a row, or at once where a 429 says how long to wait. Then one request at
 * a time tries whether the platform is back. Each operation counts its own outages too, for one that
 * is away while others are answered. All share the circuit of the token. A held-back request was never sent.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #platform: Circuit;
  readonly #token: TokenCircuit;
  readonly #operations = new Map<string, Operation>();
  readonly #circuits = new Map<string, Circuit>();
  #asking: Promise<void> = Promise.resolve();

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#platform = this.#circuit("platform", "platform", "outages");
    this.#token = this.#tokenCircuit();
    options.others?.onMove((key, state) => this.#learn(key, state));
  }

  /** Whether this request would try what is open, and others may be trying it: then they are to be asked. */
  mustAsk(operation: string): boolean {
    return this.#options.others !== undefined && this.#due(operation).length > 0;
  }

  /**
   * Asks the others whether this request may try what is open; {@link enter} knows the answer. One at a
   * time: of two requests of one process, too, one tries.
   */
  ask(operation: string): Promise<void> {
    this.#asking = this.#asking.then(() => this.#ask(operation));
    return this.#asking;
  }

  /**
   * Throws what {@link enter} would throw now.
   *
   * @throws {NetworkError} API_CIRCUIT_OPEN
   * @throws {ApiError} with `refusesToken`
   */
  check(operation: string): void {
    this.#check(this.#operation(operation));
  }

  /**
   * @param operation method and template of the path, such as `POST /posts`
   * @throws {NetworkError} API_CIRCUIT_OPEN
   * @throws {ApiError} with `refusesToken`
   */
  enter(operation: string): Permit {
    const own = this.#operation(operation);
    this.#check(own);
    const passes: Passes = {
      platform: this.#platform.enter(),
      token: this.#token.enter(),
      outages: own.outages.enter(),
      quota: own.quota.enter(),
    };
    return {
      succeeded: () => {
        this.#platform.succeeded(passes.platform);
        this.#token.succeeded(passes.token);
        own.outages.succeeded(passes.outages);
        own.quota.succeeded(passes.quota);
      },
      failed: (error) => this.#failed(error, own, passes),
    };
  }

  /** What a request of this operation passes. */
  #circuitsOf(operation: string): Circuit[] {
    const { outages, quota } = this.#operation(operation);
    return [this.#platform, outages, quota];
  }

  /** Those of them that are open, and whose time to be tried has come. */
  #due(operation: string): Circuit[] {
    return this.#circuitsOf(operation).filter(
      (circuit) => !circuit.closed && circuit.heldBackMs() === 0,
    );
  }

  async #ask(operation: string): Promise<void> {
    const { others } = this.#options;
    if (this.#token.heldBackMs() > 0) return;
    if (this.#circuitsOf(operation).some((circuit) => circuit.heldBackMs() > 0)) return;
    const granted: string[] = [];
    for (const circuit of this.#due(operation)) {
      const answer = await others?.ask(circuit.key);
      if (answer === "closed") circuit.learn(undefined);
      if (answer === "granted") granted.push(circuit.key);
      if (typeof answer !== "object") continue;
      circuit.holdBack(answer.waitMs);
      // This request will not go out.
      for (const held of granted) others?.tell(held, { kind: "leave" });
      return;
    }
  }

  #learn(key: string, state: CircuitState | undefined): void {
    // A circuit of an operation that this process has not used yet is made to be respected.
    const [kind, ...name] = key.split(" ");
    if (state !== undefined && (kind === "outages" || kind === "quota")) {
      this.#operation(name.join(" "));
    }
    this.#circuits.get(key)?.learn(state);
  }

  #check({ outages, quota }: Operation): void {
    this.#token.check();
    check(quota, `the quota of "${quota.name}" is used up`);
    check(outages, `the last requests of "${outages.name}" have failed`);
    const asked = "the platform asked to be left alone";
    const away = "the platform has not answered the last requests";
    check(this.#platform, this.#platform.asked ? asked : away);
  }

  #failed(error: unknown, { outages, quota }: Operation, passes: Passes): void {
    const kind = classify(error);
    const waitMs = outageOf(error)?.retryAfterMs ?? 0;
    this.#token.failed(passes.token, error, kind === "answered" || kind === "quota");
    if (kind === "quota") quota.refused(passes.quota, waitMs);
    else quota.left(passes.quota);
    if (kind === "outage") {
      this.#outage(outages, passes, waitMs);
    } else if (kind === "unknown") {
      this.#platform.left(passes.platform);
      outages.left(passes.outages);
    } else {
      this.#platform.succeeded(passes.platform);
      outages.succeeded(passes.outages);
    }
  }

  #outage(own: Circuit, passes: Passes, waitMs: number): void {
    if (waitMs > 0) this.#platform.refused(passes.platform, waitMs);
    else this.#platform.failed(passes.platform);
    // While the whole platform is away an operation's failures say nothing about that operation, and
    // must not keep it back once the platform is there again.
    if (this.#platform.closed || own.isTrial(passes.outages)) own.failed(passes.outages);
  }

  #operation(name: string): Operation {
    const known = this.#operations.get(name);
    if (known !== undefined) return known;
    const made = {
      outages: this.#circuit(`outages ${name}`, name, "outages"),
      quota: this.#circuit(`quota ${name}`, name, "quota"),
    };
    this.#operations.set(name, made);
    return made;
  }

  #tokenCircuit(): TokenCircuit {
    const { clock, random, onChange } = this.#options;
    return new TokenCircuit({
      ...{ clock, random },
      onChange: (open, retryInMs, error) => {
        const change = { of: "token", why: "token", open, retryInMs } as const;
        onChange?.(open ? { ...change, error } : change);
      },
    });
  }

  #circuit(key: string, name: string, why: BreakerChange["why"]): Circuit {
    const policy = why === "quota" ? QUOTA : OUTAGE;
    const { clock, random, onChange, others } = this.#options;
    const circuit = new Circuit({
      ...{ key, name, clock },
      threshold: THRESHOLD,
      // Between half and the whole of the bound: many processes must not come back at one moment.
      cooldown: (opened) => backoff(policy, opened, () => 0.5 + random() / 2),
      onChange: (open, retryInMs) => onChange?.({ of: name, why, open, retryInMs }),
      onMove: (move) => others?.tell(key, move),
    });
    this.#circuits.set(key, circuit);
    return circuit;
  }
}

function check(circuit: Circuit, why: string): void {
  const retryInMs = circuit.heldBackMs();
  if (retryInMs === 0) return;
  throw new NetworkError(
    "API_CIRCUIT_OPEN",
    `Not sent: ${why}; it is tried again in ${Math.ceil(retryInMs / 1000)} s.`,
    { sent: false, retryAfterMs: retryInMs },
  );
}

/** `answered`: the platform is there, whatever it thinks of the request. `unknown`: the caller gave up. */
function classify(error: unknown): "outage" | "quota" | "answered" | "unknown" {
  if (error instanceof ApiError && ofOneOperation.has(error.platformCode ?? "")) {
    return error.status === 429 || error.status === 503 ? "quota" : "answered";
  }
  if (error instanceof ApiError && error.refusesToken) return "answered";
  if (outageOf(error) !== undefined) return "outage";
  return error instanceof ApiError ? "answered" : "unknown";
}
