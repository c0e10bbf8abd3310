/** `small` is part of `npm run test:all`. `large` is the default of `npx node test/faults/main.ts`. */
export type Size = "small" | "large";

export interface ScenarioRun {
  readonly size: Size;
  readonly seed: number;
  /** Multiplies the number of events and faults, for a short trial of a large run. Default: 1. */
  readonly scale?: number;
  readonly progress: (line: string) => void;
}

export interface Outcome {
  /** Counts and measurements. A name includes the unit: `kills`, `ready, worst (ms)`. */
  readonly figures: Readonly<Record<string, number | string>>;
  readonly violations: readonly string[];
}

export interface Scenario {
  readonly name: string;
  /** Returns the reason why the scenario cannot run here, or `undefined` if it can. */
  whyNot?(): string | undefined;
  run(options: ScenarioRun): Promise<Outcome>;
}
