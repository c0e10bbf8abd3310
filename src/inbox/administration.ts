import { ServiceBotError } from "../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDecisionOptions,
  InboxDiscardFilter,
  InboxListOptions,
  InboxPage,
  InboxRetryFilter,
  InboxRetryOptions,
} from "./admin.ts";
import { type Outcome, refusal } from "./outcome.ts";
import type { EventDetails, InboxReport } from "./records.ts";
import { Turns } from "./turns.ts";

/** What a store does for the people who look after it. Each call is one transaction. */
export interface AdminStore {
  /** @throws {ServiceBotError} CURSOR_INVALID */
  list(options: InboxListOptions): Promise<InboxPage>;
  /** Undefined when there is no such event. */
  show(id: string): Promise<EventDetails | undefined>;
  /** The ids of the events that a filter means, the oldest first. */
  targets(state: "dead" | "pending", filter: InboxRetryFilter): Promise<readonly string[]>;
  /** One outcome for each id, in their order. */
  retry(ids: readonly string[], assume: InboxRetryOptions["assume"]): Promise<readonly Outcome[]>;
  discard(ids: readonly string[], reason: string): Promise<readonly Outcome[]>;
  report(): Promise<InboxReport>;
  /** Told after decisions, with the number of events by which the backlog has grown. */
  changed(pending: number): void;
}

/** So many events are decided about in one transaction: a few milliseconds, and others get their turn. */
const BATCH = 100;

const MAX_REASON_CHARACTERS = 500;

type Decide = (ids: readonly string[]) => Promise<readonly Outcome[]>;

/** The administration of an inbox, whatever it is stored in. */
export class Administration implements InboxAdmin {
  readonly #store: AdminStore;

  constructor(store: AdminStore) {
    this.#store = store;
  }

  async list(options: InboxListOptions = {}): Promise<InboxPage> {
    return await this.#store.list(options);
  }

  async show(id: string): Promise<EventDetails> {
    const found = await this.#store.show(id);
    if (found === undefined) throw refusal(id, "not-found");
    return found;
  }

  async retry(
    target: string | InboxRetryFilter,
    { assume, ...options }: InboxRetryOptions = {},
  ): Promise<InboxChange> {
    return await this.#decide(target, "dead", (ids) => this.#store.retry(ids, assume), options);
  }

  async discard(
    target: string | InboxDiscardFilter,
    reason: string,
    options: InboxDecisionOptions = {},
  ): Promise<InboxChange> {
    const kept = reason.trim().slice(0, MAX_REASON_CHARACTERS);
    if (kept === "") {
      throw new ServiceBotError(
        "REASON_MISSING",
        "Say why the event is discarded: the reason is all that will be known of it later.",
      );
    }
    const state = typeof target === "string" ? "dead" : (target.state ?? "dead");
    return await this.#decide(target, state, (ids) => this.#store.discard(ids, kept), options);
  }

  async targets({ state = "dead", ...filter }: InboxDiscardFilter): Promise<readonly string[]> {
    return await this.#store.targets(state, filter);
  }

  async stats(): Promise<InboxReport> {
    return await this.#store.report();
  }

  async #decide(
    target: string | InboxRetryFilter,
    state: "dead" | "pending",
    decide: Decide,
    options: InboxDecisionOptions,
  ): Promise<InboxChange> {
    if (typeof target !== "string") {
      return await this.#decideAll(await this.#store.targets(state, target), decide, options);
    }
    const [outcome] = await this.#carryOut([target], decide);
    if (outcome !== undefined && "refused" in outcome) throw refusal(target, outcome.refused);
    return { changed: 1, skipped: 0 };
  }

  async #decideAll(
    ids: readonly string[],
    decide: Decide,
    { signal, onProgress }: InboxDecisionOptions,
  ): Promise<InboxChange> {
    const turns = new Turns();
    let changed = 0;
    let done = 0;
    while (done < ids.length && signal?.aborted !== true) {
      const batch = ids.slice(done, done + BATCH);
      const outcomes = await turns.take(() => this.#carryOut(batch, decide), signal);
      changed += outcomes.filter((outcome) => !("refused" in outcome)).length;
      done += outcomes.length;
      onProgress?.({ done, of: ids.length });
    }
    const left = ids.length - done;
    return { changed, skipped: done - changed, ...(left > 0 ? { left } : {}) };
  }

  async #carryOut(ids: readonly string[], decide: Decide): Promise<readonly Outcome[]> {
    const outcomes = await decide(ids);
    const changes = outcomes.flatMap((outcome) => ("refused" in outcome ? [] : [outcome.pending]));
    if (changes.length > 0) {
      this.#store.changed(changes.reduce<number>((sum, change) => sum + change, 0));
    }
    return outcomes;
  }
}
