/** How much a scenario does: `small` is part of `npm test`, `large` is what `npm run faults` runs. */
export type Size = "small" | "large";

export interface ScenarioRun {
  readonly size: Size;
  /** Every choice that the scenario makes at random comes from this number, so that a run can be repeated. */
  readonly seed: number;
  /** A share of the size, to try a large run in short. Default 1. */
  readonly scale?: number;
  /** Tells how far it is; one line, for people. */
  readonly progress: (line: string) => void;
}

/** What came of a scenario. */
export interface Outcome {
  /** What was counted and measured, with the unit in the name: `kills`, `ready again, worst (ms)`. */
  readonly figures: Readonly<Record<string, number | string>>;
  /** Each broken promise in one sentence, with what is needed to look into it. Empty when all were kept. */
  readonly violations: readonly string[];
}

/** One kind of fault, driven against the real thing and checked. */
export interface Scenario {
  /** As it stands in the table of docs/reliability.md. */
  readonly name: string;
  /** Why it cannot be run here; undefined when it can. */
  whyNot?(): string | undefined;
  run(options: ScenarioRun): Promise<Outcome>;
}
