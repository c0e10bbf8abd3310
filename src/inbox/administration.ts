import { ServiceBotError } from "../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDiscardFilter,
  InboxFilter,
  InboxListOptions,
  InboxPage,
  InboxRetryOptions,
} from "./admin.ts";
import { type Outcome, refusal } from "./outcome.ts";
import type { EventDetails, InboxReport } from "./records.ts";

/** What a store does for the people who look after it. Each call is one transaction. */
export interface AdminStore {
  /** @throws {ServiceBotError} CURSOR_INVALID */
  list(options: InboxListOptions): Promise<InboxPage>;
  /** Undefined when there is no such event. */
  show(id: string): Promise<EventDetails | undefined>;
  /** The ids of the events that a filter means, the oldest first. */
  targets(state: "dead" | "pending", filter: InboxFilter): Promise<readonly string[]>;
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
    target: string | InboxFilter,
    { assume }: InboxRetryOptions = {},
  ): Promise<InboxChange> {
    return await this.#decide(target, "dead", (ids) => this.#store.retry(ids, assume));
  }

  async discard(target: string | InboxDiscardFilter, reason: string): Promise<InboxChange> {
    const kept = reason.trim().slice(0, MAX_REASON_CHARACTERS);
    if (kept === "") {
      throw new ServiceBotError(
        "REASON_MISSING",
        "Say why the event is discarded: the reason is all that will be known of it later.",
      );
    }
    const state = typeof target === "string" ? "dead" : (target.state ?? "dead");
    return await this.#decide(target, state, (ids) => this.#store.discard(ids, kept));
  }

  async stats(): Promise<InboxReport> {
    return await this.#store.report();
  }

  async #decide(
    target: string | InboxFilter,
    state: "dead" | "pending",
    decide: Decide,
  ): Promise<InboxChange> {
    if (typeof target === "string") {
      const [outcome] = await this.#carryOut([target], decide);
      if (outcome !== undefined && "refused" in outcome) throw refusal(target, outcome.refused);
      return { changed: 1, skipped: 0 };
    }
    const ids = await this.#store.targets(state, target);
    let changed = 0;
    for (let from = 0; from < ids.length; from += BATCH) {
      const outcomes = await this.#carryOut(ids.slice(from, from + BATCH), decide);
      changed += outcomes.filter((outcome) => !("refused" in outcome)).length;
    }
    return { changed, skipped: ids.length - changed };
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
