/** The `benchmark` export of each `bench/<area>/<name>.ts` file. */
export interface Benchmark {
  /** One line that names the work and its amount. */
  readonly title: string;
  /** Rounds with `--quick`. Default 3. Figures without a target need fewer. */
  readonly quickRounds?: number;
  /** False if each sample starts new processes, which a warm-up round cannot warm up. */
  readonly warmUp?: false;
  /** Starts the benchmark's processes. Not timed. */
  prepare(setting: Setting): Promise<Stage>;
}

export interface Setting {
  /** True to measure the same figures with less work. */
  readonly quick: boolean;
}

/** A benchmark that is ready to measure. */
export interface Stage {
  /** Each subject is measured once per round, with nothing else running. */
  readonly subjects: readonly Subject[];
  /** In table order. */
  readonly figures: readonly Figure[];
  /** Ends every process and deletes every file. */
  close(): Promise<void>;
}

/** Takes one measurement. Sample names must be unique within a benchmark. */
export type Subject = () => Promise<Samples>;

export type Samples = Readonly<Record<string, number>>;

/** A row of the table. */
export interface Figure {
  readonly name: string;
  readonly sample: string;
  /** For example `events/s`. */
  readonly unit: string;
  /**
   * Samples to compare with: a physical limit, or peers measured in the same rounds. If there are several peers, the
   * best one in each round counts. Absent if the figure is itself a reference.
   */
  readonly against?: string | readonly string[];
  /** Target for the ratio, or for the median if the figure is not compared. */
  readonly target?: Target;
}

/** A bound that the project sets itself. */
export interface Target {
  /** Number of the target in docs/internals/performance.md. Absent if another document defines the target. */
  readonly number?: number;
  /** A figure equal to the bound meets the target. */
  readonly bound: number;
  readonly is: "at least" | "at most";
}
