/** `small` is part of `npm run test:all`. `large` is the default of `npx node test/faults/main.ts`. */
export type Size = "small" | "large";

export interface ScenarioRun {
  readonly size: Size;
  /** Seed of all random choices, to repeat a run. */
  readonly seed: number;
  /** Fraction of the size, for a short trial of a large run. Default: 1. */
  readonly scale?: number;
  readonly progress: (line: string) => void;
}

export interface Outcome {
  /** Counts and measurements, with the unit in the name: `kills`, `ready, worst (ms)`. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** One sentence per broken promise. */
  readonly violations: readonly string[];
}

/** A fault that runs against the real bot, and its checks. */
export interface Scenario {
  /** Name in the printed table. */
  readonly name: string;
  /** Returns why the scenario cannot run here. `undefined` if it can. */
  whyNot?(): string | undefined;
  run(options: ScenarioRun): Promise<Outcome>;
}
