/** The `benchmark` export of each `bench/<area>/<name>.ts` file. */
export interface Benchmark {
  readonly title: string;
  /** Rounds with `--quick`. The default is 3, but figures without a target need fewer. */
  readonly quickRounds?: number;
  /**
   * Rounds that are discarded, because V8 has not optimized the code yet. Default 1. 0 if each sample starts new
   * processes.
   */
  readonly warmUpRounds?: number;
  /** Starts the benchmark's processes. This time is not measured. */
  prepare(setting: Setting): Promise<Stage>;
}

export interface Setting {
  /** True to measure the same figures with less work. */
  readonly quick: boolean;
}

export interface Stage {
  /** Each subject is measured once per round, with nothing else running. */
  readonly subjects: readonly Subject[];
  readonly figures: readonly Figure[];
  close(): Promise<void>;
}

/** Takes one measurement. Sample names must be unique within a benchmark. */
export type Subject = () => Promise<Samples>;

export type Samples = Readonly<Record<string, number>>;

export interface Figure {
  readonly name: string;
  readonly sample: string;
  readonly unit: string;
  /**
   * Samples to compare with: a physical limit, or peers measured in the same rounds. If there are several peers, the
   * best one in each round counts. Absent if the figure is itself a reference.
   */
  readonly against?: string | readonly string[];
  /** Target for the ratio, or for the median if the figure is not compared. */
  readonly target?: Target;
}

export interface Target {
  /** The target's number in docs/internals/performance.md. Absent if another document defines the target. */
  readonly number?: number;
  /** A figure equal to the bound meets the target. */
  readonly bound: number;
  readonly is: "at least" | "at most";
}
