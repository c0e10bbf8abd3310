import type { AnyEvent } from "../faces/events.ts";
import type { Claim } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import {
  type Candidates,
  type Effect,
  type Intent,
  type RunSteps,
  type Search,
  type Step,
  type StepEnd,
  Steps,
  type StepsOptions,
} from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";

export const LEASE = 30_000;
/** Longest time a reply may be in flight after its intent was recorded, in ms. */
export const IN_FLIGHT = 11_000;

/** A step that never returns, as if the process had crashed before the effect. */
export const died: { run(): Promise<never> } = { run: () => new Promise<never>(() => undefined) };

/** The result of a search that finds no trace of the effect. */
export const nothing: Candidates<never> = { same: [], others: [], isComplete: true };

export type ReplyParts = Partial<Pick<Step<string>, "run" | "subject">> & Partial<Search<string>>;

export class Run {
  readonly steps: RunSteps;

  constructor(steps: RunSteps) {
    this.steps = steps;
  }

  async run<T>(step: Step<T>): Promise<T> {
    return (await this.steps.run(step)).result;
  }

  end<T>(step: Step<T>): Promise<StepEnd<T>> {
    return this.steps.run(step);
  }
}

export class StepWorld {
  readonly clock: ManualClock = new ManualClock(1_800_000_000_000);
  readonly inbox: SqliteInbox = new SqliteInbox({ file: ":memory:", clock: this.clock });
  readonly log: ReturnType<typeof logSink> = logSink();
  process: Steps = this.newProcess();
  /** Sent texts by id. */
  readonly platform: Map<string, string> = new Map();
  #claim: Claim | undefined;

  newProcess(more: Partial<StepsOptions> = {}): Steps {
    return new Steps({ inbox: this.inbox, clock: this.clock, ...more });
  }

  /** Stores an event on each of these lanes. Without arguments, stores one on the lane "lane". */
  async put(...lanes: readonly string[]): Promise<void> {
    const events = (lanes.length === 0 ? ["lane"] : lanes).map((lane, index) =>
      message(String(index + 1), lane),
    );
    await this.inbox.put(events, "webhook");
  }

  get claim(): Claim {
    return first(this.#claim === undefined ? [] : [this.#claim]);
  }

  /** Starts a run in a new process, after the previous run's lease has expired. */
  async begin(signal?: AbortSignal): Promise<Run> {
    await this.clock.advance(LEASE);
    this.process = this.newProcess();
    return await this.next(signal);
  }

  /** Releases the event, as a process does when it stops, and starts the next run in a new process. */
  async handOver(): Promise<Run> {
    this.process = this.newProcess();
    return await this.again();
  }

  /** Releases the event, and starts the next run in the same process. */
  async again(): Promise<Run> {
    await this.inbox.release(this.claim, 0);
    return await this.next();
  }

  async next(signal?: AbortSignal): Promise<Run> {
    this.#claim = first(await this.inbox.claim(1, LEASE));
    return this.runOf(this.#claim, signal === undefined ? {} : { signal });
  }

  runOf(
    claim: Claim,
    {
      process = this.process,
      signal = new AbortController().signal,
    }: { readonly process?: Steps; readonly signal?: AbortSignal } = {},
  ): Run {
    const event = { id: claim.id, type: claim.type, createdAt: "", payload: {} } as AnyEvent;
    return new Run(process.forJob({ event, claim, signal, log: this.log.log }));
  }

  readonly send = (text: string): Effect<string> => {
    const id = `m_${this.platform.size + 1}`;
    this.platform.set(id, text);
    return { result: id, ref: id };
  };

  readonly find = async ({ request }: Intent): Promise<Candidates<string>> => {
    const { text: sought }: { text: string } = request.startsWith("{")
      ? JSON.parse(request)
      : { text: request };
    const same = [...this.platform].filter(([, text]) => text === sought);
    return { ...nothing, same: same.map(([id]) => ({ result: id, ref: id })) };
  };

  /** Creates a step that sends and finds a reply as a real one does. */
  reply(
    name: string,
    text: string,
    { run = async () => this.send(text), subject, ...parts }: ReplyParts = {},
  ): Step<string> {
    const search: Search<string> = {
      request: () => text,
      find: this.find,
      inFlightMs: IN_FLIGHT,
      ...parts,
    };
    return { name, run, subject, search, repeatable: false };
  }

  /** Creates a step that never returns, as if the process had crashed after the effect. */
  diedAfterSending(text: string): Pick<Step<string>, "run"> {
    return {
      run: () => {
        this.send(text);
        return new Promise<never>(() => undefined);
      },
    };
  }

  /** Waits until a step has reached its effect. */
  underWay(): Promise<void> {
    return this.clock.advance(0);
  }

  /** Creates a step like those of `ctx.step`, which cannot be found on the platform. */
  own<T>(run: () => Promise<T> | T, overrides: Partial<Step<T>> = {}): Step<T> {
    return {
      name: "step/charge",
      run: async () => ({ result: await run() }),
      repeatable: false,
      ...overrides,
    };
  }
}
