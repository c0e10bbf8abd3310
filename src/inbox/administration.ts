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
import type { EventDetails, InboxReport } from "./records.ts";

/** Why a decision was not carried out. */
export type Refusal = "not-found" | "not-dead" | "body-dropped" | "leased" | "ended";

/** By how many events the backlog has changed, or why nothing was done. */
export type Outcome = { readonly pending: -1 | 0 | 1 } | { readonly refused: Refusal };

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

function refusal(id: string, why: Refusal): ServiceBotError {
  const show = `See "service-bot inbox show" or bot.inbox.show().`;
  switch (why) {
    case "not-found":
      return new ServiceBotError(
        "EVENT_NOT_FOUND",
        `The inbox has no event "${id}". "service-bot inbox list" and bot.inbox.list() tell the ids.`,
      );
    case "not-dead":
      return new ServiceBotError(
        "EVENT_NOT_DEAD",
        `Event "${id}" is no dead letter, and only those can be retried. ${show}`,
      );
    case "body-dropped":
      return new ServiceBotError(
        "EVENT_BODY_DROPPED",
        `The content of event "${id}" was dropped, so it cannot run again. Discard it, with a reason.`,
      );
    case "leased":
      return new ServiceBotError(
        "EVENT_LEASED",
        `Event "${id}" is being handled right now. Try again once this run has ended.`,
      );
    case "ended":
      return new ServiceBotError(
        "EVENT_ENDED",
        `Event "${id}" is done or discarded already; there is nothing to discard. ${show}`,
      );
  }
}
