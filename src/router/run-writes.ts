import type { Client } from "../client/client.ts";
import type { Jsonify } from "../core/json.ts";
import { BOOLEAN, FUNCTION, KEY, type Kind } from "../core/kinds.ts";
import { authorCode } from "../core/loop-watch.ts";
import {
  inspectOptions,
  type OptionTable,
  readOptions,
  refuseProblems,
  requireKind,
} from "../core/option-checks.ts";
import type { Job, Step } from "../steps/step.ts";
import type { WriteScope } from "../steps/writes.ts";
import type { StepOptions, WriteOptions, WriteResult } from "./context.ts";
import type { PendingTasks } from "./pending-tasks.ts";

export type WriteKind = "reply" | "comment" | "post" | "upload";

/** A message, comment or post made by this run, or made by an earlier run and found by this run. */
export interface WriteEnd {
  readonly kind: WriteKind;
  readonly result: unknown;
}

/** The run whose handlers write. */
export interface WritingRun {
  readonly job: Job;
  readonly client: Client;
  /** The run waits for all of these tasks. */
  readonly tasks: PendingTasks;
  /** Precedes the name of each step. */
  readonly prefix: string;
  onWrite(write: WriteEnd): void;
}

const WRITE_OPTIONS: OptionTable<WriteOptions> = { key: KEY };
const STEP_OPTIONS: OptionTable<StepOptions> = { repeatable: BOOLEAN };

/** Maximum length of a step's name, in characters. PostgreSQL limits the size of an index entry. */
const MAX_STEP_NAME = 500;

const STEP_NAME: Kind = {
  expected: `a string of 1 to ${MAX_STEP_NAME} characters`,
  fits: (value) => typeof value === "string" && value !== "" && value.length <= MAX_STEP_NAME,
};

/** Writes and steps of one run. Invalid options cause a rejection. */
export class RunWrites {
  readonly #run: WritingRun;
  readonly #counts = { reply: 0, comment: 0, post: 0, upload: 0 };

  constructor(run: WritingRun) {
    this.#run = run;
  }

  /** @param describe checks the arguments and returns the write as a step */
  write<R>(
    kind: WriteKind,
    options: WriteOptions = {},
    describe: (name: string, scope: WriteScope) => Step<R>,
  ): Promise<WriteResult<R>> {
    const { job, client, tasks } = this.#run;
    const { values, problems } = inspectOptions(options, WRITE_OPTIONS);
    // Number the write at once, in the order of the calls.
    const name = this.#nextName(kind, values);
    return tasks.start(async () => {
      refuseProblems(problems);
      const step = describe(name, { client, signal: job.signal });
      // Date the intent by the platform's clock. With the bot's clock, a search after a crash would have to cover extra
      // minutes.
      const isShown = step.search !== undefined;
      if (isShown) await client.syncClock();
      const { result, outcome } = await job.steps.run(step);
      if (isShown && (outcome === "made" || outcome === "found"))
        this.#run.onWrite({ kind, result });
      return { ...result, repeated: outcome !== "made" };
    });
  }

  step<R>(name: string, fn: () => Promise<R> | R, options: StepOptions = {}): Promise<Jsonify<R>> {
    const { job, tasks, prefix } = this.#run;
    return tasks.start(async () => {
      requireKind("name", name, STEP_NAME);
      requireKind("fn", fn, FUNCTION);
      const { repeatable = false } = readOptions(options, STEP_OPTIONS);
      const { result } = await job.steps.run({
        name: `${prefix}step/${name}`,
        run: async () => ({ result: (await authorCode(undefined, fn)) as Jsonify<R> }),
        repeatable,
      });
      return result;
    });
  }

  /**
   * Returns a name such as `reply/1`, or `reply/key:sorry` for the key `sorry`. Numbers distinguish replies with the
   * same text.
   */
  #nextName(kind: WriteKind, { key }: WriteOptions): string {
    const name = `${this.#run.prefix}${kind}`;
    if (key !== undefined) return `${name}/key:${key}`;
    this.#counts[kind] += 1;
    return `${name}/${this.#counts[kind]}`;
  }
}
