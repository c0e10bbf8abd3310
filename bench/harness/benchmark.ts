/** The `benchmark` export of a file `bench/<area>/<name>.ts`. */
export interface Benchmark {
  /** One line that names the work and its amount. */
  readonly title: string;
  /** Rounds with `--quick`. Default 3. Fewer for figures without a target. */
  readonly quickRounds?: number;
  /** False if each sample starts new processes, because a warm-up round has no effect on them. */
  readonly warmUp?: false;
  /** Starts the processes of the benchmark. Not timed. */
  prepare(setting: Setting): Promise<Stage>;
}

/** How much work this run does. */
export interface Setting {
  /** True to measure the same figures with smaller amounts. */
  readonly quick: boolean;
}

/** A benchmark that is ready to measure. */
export interface Stage {
  /** Each subject is measured once per round. Nothing else runs meanwhile. */
  readonly subjects: readonly Subject[];
  /** Figures computed from the samples, in the order of the table. */
  readonly figures: readonly Figure[];
  /** Ends every process and removes every file. */
  close(): Promise<void>;
}

/** Measures once. Sample names must be unique among a benchmark's subjects. */
export type Subject = () => Promise<Samples>;

export type Samples = Readonly<Record<string, number>>;

/** One line of the table. */
export interface Figure {
  readonly name: string;
  /** Name of its samples. */
  readonly sample: string;
  /** Such as `events/s`. */
  readonly unit: string;
  /**
   * Names of the samples to compare with, for a physical limit or peers measured in the same rounds. If there are
   * several peers, the best of each round counts. Absent if the figure is itself a reference.
   */
  readonly against?: string | readonly string[];
  /** Target for the ratio, or for the median if nothing is compared. */
  readonly target?: Target;
}

/** A bound that the project sets itself. */
export interface Target {
  /** Number in docs/internals/performance.md. Absent if another document defines the target. */
  readonly number?: number;
  /** The bound itself meets the target. */
  readonly bound: number;
  readonly is: "at least" | "at most";
}
