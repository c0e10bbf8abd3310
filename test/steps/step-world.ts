import type { Claim } from "../faces/inbox.ts";
import { SqliteInbox } from "../faces/inbox-sqlite.ts";
import {
  DurableSteps,
  type Effect,
  type OpenIntent,
  Shared,
  type Step,
  type StepScope,
} from "../faces/steps.ts";
import { ManualClock } from "../faces/testing.ts";
import { first } from "../support/first.ts";
import { message } from "../support/inbox-events.ts";
import { logSink } from "../support/log.ts";

export const LEASE = 30_000;
/** How long after its intent a reply may be under way, in milliseconds. */
export const IN_FLIGHT = 11_000;

/** A step that never returns: the process dies in it, before the effect. */
export const died: { run(): Promise<never> } = { run: () => new Promise<never>(() => undefined) };

/** An inbox, what the platform has, and runs of handlers between them. */
export class StepWorld {
  readonly clock: ManualClock = new ManualClock(1_800_000_000_000);
  readonly inbox: SqliteInbox = new SqliteInbox({ file: ":memory:", clock: this.clock });
  /** Of the process that runs now. */
  shared: Shared = new Shared();
  readonly log: ReturnType<typeof logSink> = logSink();
  /** The texts that were really sent, by id. */
  readonly platform: Map<string, string> = new Map();
  #claim: Claim | undefined;

  /** An event on each of these lanes; without any, one. */
  async put(...lanes: readonly string[]): Promise<void> {
    const events = (lanes.length === 0 ? ["lane"] : lanes).map((lane, index) =>
      message(String(index + 1), lane),
    );
    await this.inbox.put(events, "webhook");
  }

  /** The claim of the newest run. */
  get claim(): Claim {
    return first(this.#claim === undefined ? [] : [this.#claim]);
  }

  /** Begins a run of the handler: as a new process does once the lease of the one before has run out. */
  async begin(signal?: AbortSignal): Promise<DurableSteps> {
    await this.clock.advance(LEASE);
    this.shared = new Shared();
    return await this.next(signal);
  }

  /** Hands the event back as a stopping process does; a new one begins the next run at once. */
  async handOver(): Promise<DurableSteps> {
    this.shared = new Shared();
    return await this.again();
  }

  /** Hands the event back, and begins the next run in the same process. */
  async again(): Promise<DurableSteps> {
    await this.inbox.release(this.claim, 0);
    return await this.next();
  }

  /** Begins a run for the event that is ready. */
  async next(signal?: AbortSignal): Promise<DurableSteps> {
    this.#claim = first(await this.inbox.claim(1, LEASE));
    return this.runOf(this.#claim, signal === undefined ? {} : { signal });
  }

  runOf(claim: Claim, more: Partial<StepScope> = {}): DurableSteps {
    const { inbox, clock, shared } = this;
    const { signal } = new AbortController();
    return new DurableSteps({ inbox, clock, shared, log: this.log.log, signal, claim, ...more });
  }

  readonly send = (text: string): Effect<string> => {
    const id = `m_${this.platform.size + 1}`;
    this.platform.set(id, text);
    return { result: id, ref: id };
  };

  readonly find = async ({ request, claimed }: OpenIntent): Promise<Effect<string> | undefined> => {
    const same = [...this.platform].filter(([, text]) => text === request).map(([id]) => id);
    const taken = await claimed(same);
    const id = same.find((candidate) => !taken.has(candidate));
    return id === undefined ? undefined : { result: id, ref: id };
  };

  /** A reply with this text that sends and is found as the real ones are. */
  reply(name: string, text: string, overrides: Partial<Step<string>> = {}): Step<string> {
    return {
      name,
      request: () => text,
      place: () => "dm:c_1",
      run: async () => this.send(text),
      find: this.find,
      inFlightMs: IN_FLIGHT,
      repeatable: false,
      ...overrides,
    };
  }

  /** A step that never returns: the process dies in it, after the effect. */
  diedAfterSending(text: string): Pick<Step<string>, "run"> {
    return {
      run: () => {
        this.send(text);
        return new Promise<never>(() => undefined);
      },
    };
  }

  /** Lets a step get as far as its effect. */
  underWay(): Promise<void> {
    return this.clock.advance(0);
  }

  /** What `ctx.step` makes: it cannot be looked for. */
  own<T>(run: () => Promise<T> | T, overrides: Partial<Step<T>> = {}): Step<T> {
    return {
      name: "step/charge",
      request: () => "",
      run: async () => ({ result: await run() }),
      inFlightMs: 0,
      repeatable: false,
      ...overrides,
    };
  }
}
