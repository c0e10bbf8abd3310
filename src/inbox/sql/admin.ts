import { sleep, systemClock } from "../../core/clock.ts";
import { STRING } from "../../core/kinds.ts";
import { readOptions, requireKind } from "../../core/option-checks.ts";
import { ServiceBotError } from "../../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDecisionFilter,
  InboxDecisionOptions,
  InboxListOptions,
  InboxPage,
  InboxReport,
  InboxRetryOptions,
  StateListOptions,
  StatePage,
  TimerListOptions,
  TimerPage,
} from "../admin.ts";
import type { StoredState, TimerName } from "../effects.ts";
import type { EventDetails } from "../event-records.ts";
import {
  DECISION_FILTER,
  DECISION_OPTIONS,
  LIST_OPTIONS,
  RETRY_OPTIONS,
  readTarget,
  readTimer,
  STATES_OPTIONS,
  TIMERS_OPTIONS,
} from "./admin-options.ts";
import { type DecisionOutcome, Decisions, decisionError } from "./decisions.ts";
import { Events } from "./events.ts";
import { Reports } from "./reports.ts";
import { States } from "./states.ts";
import type { SqlStore } from "./store.ts";

/**
 * Maximum number of events per transaction. A transaction takes a few ms, and deliveries continue between transactions.
 */
const BATCH = 100;

const MAX_REASON_CHARACTERS = 500;

type Decide = (ids: readonly string[]) => Promise<readonly DecisionOutcome[]>;

export class SqlAdmin implements InboxAdmin {
  readonly #events: Events;
  readonly #decisions: Decisions;
  readonly #reports: Reports;
  readonly #states: States;
  readonly #onDecided: (pending: number) => void;
  readonly #onTimersDue: () => void;

  /**
   * @param onDecided called with the change in the number of pending events
   * @param onTimersDue called after timers were made due; by default, another process polls for them
   */
  constructor(
    store: SqlStore,
    onDecided: (pending: number) => void,
    onTimersDue: () => void = () => undefined,
  ) {
    this.#events = new Events(store);
    this.#decisions = new Decisions(store);
    this.#reports = new Reports(store);
    this.#states = new States(store);
    this.#onDecided = onDecided;
    this.#onTimersDue = onTimersDue;
  }

  async list(options: InboxListOptions = {}): Promise<InboxPage> {
    return await this.#events.list(readOptions(options, LIST_OPTIONS));
  }

  async show(id: string): Promise<EventDetails> {
    requireKind("id", id, STRING);
    const found = await this.#events.show(id);
    if (found === undefined) throw decisionError(id, "not-found");
    return found;
  }

  async retry(
    target: string | InboxDecisionFilter,
    options: InboxRetryOptions = {},
  ): Promise<InboxChange> {
    const chosen = readTarget(target);
    const { assume, ...rest } = readOptions(options, RETRY_OPTIONS);
    const decide: Decide = (ids) => this.#decisions.retry(ids, assume);
    return await this.#decide(chosen, decide, rest);
  }

  async discard(
    target: string | InboxDecisionFilter,
    reason: string,
    options: InboxDecisionOptions = {},
  ): Promise<InboxChange> {
    const chosen = readTarget(target);
    if (reason !== undefined) requireKind("reason", reason, STRING);
    const kept = (reason ?? "").trim().slice(0, MAX_REASON_CHARACTERS);
    if (kept === "") {
      throw new ServiceBotError(
        "REASON_MISSING",
        "A reason is missing. The inbox stores it with the discarded event.",
      );
    }
    const decide: Decide = (ids) => this.#decisions.discard(ids, kept);
    return await this.#decide(chosen, decide, readOptions(options, DECISION_OPTIONS));
  }

  async targets(given: InboxDecisionFilter): Promise<readonly string[]> {
    const { state = "dead", ...filter } = readOptions(given, DECISION_FILTER, "filter.");
    if (filter.user === undefined) return await this.#decisions.targets(state, filter);
    const { limit = Number.MAX_SAFE_INTEGER, ...rest } = filter;
    return (await this.#events.idsOf(state, rest)).slice(0, limit);
  }

  stats(): Promise<InboxReport> {
    return this.#reports.report();
  }

  async states(options: StateListOptions = {}): Promise<StatePage> {
    return await this.#states.list(readOptions(options, STATES_OPTIONS));
  }

  async state(key: string): Promise<StoredState | undefined> {
    requireKind("key", key, STRING);
    return await this.#states.find(key);
  }

  async deleteState(key: string): Promise<boolean> {
    requireKind("key", key, STRING);
    return await this.#states.delete(key);
  }

  async timers(options: TimerListOptions = {}): Promise<TimerPage> {
    return await this.#states.timers(readOptions(options, TIMERS_OPTIONS));
  }

  async makeTimersDue(name: TimerName): Promise<number> {
    const count = await this.#states.makeDue(readTimer(name));
    if (count > 0) this.#onTimersDue();
    return count;
  }

  async #decide(
    target: string | InboxDecisionFilter,
    decide: Decide,
    options: InboxDecisionOptions,
  ): Promise<InboxChange> {
    if (typeof target !== "string") {
      return await this.#decideAll(await this.targets(target), decide, options);
    }
    const [outcome] = await this.#carryOut([target], decide);
    if (outcome !== undefined && "refused" in outcome) throw decisionError(target, outcome.refused);
    return { changed: 1, skipped: 0 };
  }

  async #decideAll(
    ids: readonly string[],
    decide: Decide,
    { signal, onProgress }: InboxDecisionOptions,
  ): Promise<InboxChange> {
    let changed = 0;
    let done = 0;
    let pauseMs = 0;
    while (done < ids.length && signal?.aborted !== true) {
      // Pause between batches. Another process that waits for the file lock polls for it, and without pauses it would
      // find the file locked each time.
      if (pauseMs > 0) await sleep(systemClock, pauseMs, signal);
      const startedAt = performance.now();
      const outcomes = await this.#carryOut(ids.slice(done, done + BATCH), decide);
      pauseMs = performance.now() - startedAt;
      changed += outcomes.filter((outcome) => !("refused" in outcome)).length;
      done += outcomes.length;
      onProgress?.({ done, of: ids.length });
    }
    const left = ids.length - done;
    return { changed, skipped: done - changed, ...(left > 0 ? { left } : {}) };
  }

  async #carryOut(ids: readonly string[], decide: Decide): Promise<readonly DecisionOutcome[]> {
    const outcomes = await decide(ids);
    const changes = outcomes.flatMap((outcome) => ("refused" in outcome ? [] : [outcome.pending]));
    if (changes.length > 0) this.#onDecided(changes.reduce<number>((sum, one) => sum + one, 0));
    return outcomes;
  }
}
