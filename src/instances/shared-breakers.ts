import type { OtherBreakers, TrialAnswer } from "../client/breaker.ts";
import type { CircuitMove, CircuitState } from "../client/circuit.ts";
import type { Logger } from "../core/logger.ts";
import type { Shared } from "../inbox/shared.ts";

export interface SharedBreakersOptions {
  readonly shared: Pick<Shared, "circuits" | "onChange">;
  readonly log: Logger;
  /** How long a trial may take, in milliseconds: after that another instance tries. */
  readonly trialMs: number;
}

type Learn = (circuit: string, state: CircuitState | undefined) => void;

/**
 * The breakers of all instances, which act as one: what one opens all respect, and one at a time tries. Where
 * the store does not answer, each acts for itself.
 */
export class SharedBreakers implements OtherBreakers {
  readonly #options: SharedBreakersOptions;
  /** The circuits that are open, each with its version: what is known already is not learned again. */
  readonly #open = new Map<string, number>();
  #learn: Learn = () => undefined;
  /** One thing after the other: what is learned must not be older than what was told. */
  #work: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;

  constructor(options: SharedBreakersOptions) {
    this.#options = options;
  }

  /** Resolves once what is open is known. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#options.shared.onChange((topic) => {
      if (topic === undefined || topic === "circuit") void this.#then(() => this.#look());
    });
    await this.#then(() => this.#look());
  }

  async stop(): Promise<void> {
    this.#unsubscribe();
    await this.#work;
  }

  onMove(learn: Learn): void {
    this.#learn = learn;
  }

  tell(circuit: string, move: CircuitMove): void {
    void this.#then(() => this.#tell(circuit, move));
  }

  async ask(circuit: string): Promise<TrialAnswer> {
    await this.#work;
    // Nobody else knows that it is open.
    if (!this.#open.has(circuit)) return "granted";
    const { shared, trialMs, log } = this.#options;
    try {
      const answer = await shared.circuits.claim(circuit, trialMs);
      return answer.kind === "wait" ? { waitMs: answer.ms } : answer.kind;
    } catch (err) {
      log.debug({ err }, "the other instances cannot be asked; this one tries the platform");
      return "granted";
    }
  }

  async #tell(name: string, move: CircuitMove): Promise<void> {
    const { circuits } = this.#options.shared;
    const version = this.#open.get(name);
    if (move.kind === "leave") return await circuits.leave(name);
    if (move.kind === "open") {
      const open = await circuits.open({ name, ...move.state });
      this.#open.set(name, open.version);
      // Another instance keeps it open for longer.
      if (open.openMs > move.state.openMs) this.#learn(name, open);
    } else if (version !== undefined) {
      this.#open.delete(name);
      await circuits.close(name, version);
    }
  }

  async #look(): Promise<void> {
    const open = await this.#options.shared.circuits.list();
    const names = new Set(open.map(({ name }) => name));
    for (const name of this.#open.keys()) {
      if (names.has(name)) continue;
      this.#open.delete(name);
      this.#learn(name, undefined);
    }
    for (const circuit of open) {
      if (this.#open.get(circuit.name) === circuit.version) continue;
      this.#open.set(circuit.name, circuit.version);
      this.#learn(circuit.name, circuit);
    }
  }

  #then(work: () => Promise<void>): Promise<void> {
    const { log } = this.#options;
    this.#work = this.#work
      .then(work)
      .catch((err: unknown) => log.debug({ err }, "the circuit breakers cannot be shared"));
    return this.#work;
  }
}
