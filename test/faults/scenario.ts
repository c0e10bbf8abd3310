/** `small` is part of `npm run test:all`. `large` is the default for `npx node test/faults/main.ts`. */
export type Size = "small" | "large";

export interface ScenarioRun {
  readonly size: Size;
  /** Seed for all random choices, to repeat a run. */
  readonly seed: number;
  /** Multiplies the number of events and faults, for a short trial of a large run. Default: 1. */
  readonly scale?: number;
  readonly progress: (line: string) => void;
}

export interface Outcome {
  /** Counts and measurements. Names include the unit: `kills`, `ready, worst (ms)`. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** One sentence per broken promise. */
  readonly violations: readonly string[];
}

/** A fault that runs against the real bot, and its checks. */
export interface Scenario {
  /** Name in the results table. */
  readonly name: string;
  /** Returns the reason why the scenario cannot run here, or `undefined` if it can. */
  whyNot?(): string | undefined;
  run(options: ScenarioRun): Promise<Outcome>;
}
