/** What a file `bench/<area>/<name>.ts` exports as `benchmark`. */
export interface Benchmark {
  /** One line: what is measured, and how much of it. */
  readonly title: string;
  /** How many rounds it has with `--quick`: fewer than others where no target speaks of its figures. Default 3. */
  readonly quickRounds?: number;
  /** False where each sample has new processes of its own: a round that is thrown away would warm nothing up. */
  readonly warmUp?: false;
  /** Starts what is measured, and what it is measured with. Not timed. */
  prepare(setting: Setting): Promise<Stage>;
}

/** How much is wanted of this run. */
export interface Setting {
  /** True with `--quick`: smaller amounts, same figures. */
  readonly quick: boolean;
}

/** A benchmark that is ready to be measured. */
export interface Stage {
  /** Each is measured once in every round. Nothing else runs meanwhile. */
  readonly subjects: readonly Subject[];
  /** What is made of the samples, in the order of the table. */
  readonly figures: readonly Figure[];
  /** Ends every process and removes every file. */
  close(): Promise<void>;
}

/** Measures once. The names of samples are the benchmark's own; no two subjects share one. */
export type Subject = () => Promise<Samples>;

export type Samples = Readonly<Record<string, number>>;

/** One line of the table. */
export interface Figure {
  /** In words. */
  readonly name: string;
  /** The name of its samples. */
  readonly sample: string;
  /** Such as `events/s`. */
  readonly unit: string;
  /**
   * Physical limit or peer of the comparison, sampled in the same rounds; of several peers the one that has the most
   * in a round. Absent for what others are compared with.
   */
  readonly against?: string | readonly string[];
  /** What is asked of the ratio, or of the median where nothing is compared. */
  readonly target?: Target;
}

/** A bound that the project has set itself. */
export interface Target {
  /** Its number in docs/internals/performance.md; without one it stands in another document. */
  readonly number?: number;
  /** The bound itself still meets it. */
  readonly bound: number;
  readonly is: "at least" | "at most";
}
