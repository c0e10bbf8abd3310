/** `small` is part of `npm run test:all`; `large` is the default of `npx node test/faults/main.ts`. */
export type Size = "small" | "large";

export interface ScenarioRun {
  readonly size: Size;
  /** The origin of all random choices, so that a run can be repeated. */
  readonly seed: number;
  /** A share of the size, to try a large run in short. Default 1. */
  readonly scale?: number;
  /** Reports progress in one line, for people. */
  readonly progress: (line: string) => void;
}

export interface Outcome {
  /** Counts and measurements, with the unit in the name: `kills`, `ready, worst (ms)`. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** One sentence per broken promise. */
  readonly violations: readonly string[];
}

/** A fault, driven against the real thing and checked. */
export interface Scenario {
  /** The name in the printed table. */
  readonly name: string;
  /** Returns why the scenario cannot run here. `undefined` if it can. */
  whyNot?(): string | undefined;
  run(options: ScenarioRun): Promise<Outcome>;
}
