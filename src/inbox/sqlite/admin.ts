import type { Database } from "better-sqlite3";
import { ServiceBotError } from "../../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDiscardFilter,
  InboxFilter,
  InboxListOptions,
  InboxPage,
  InboxRetryOptions,
} from "../admin.ts";
import type { EventDetails, InboxReport } from "../records.ts";
import { Catalogue } from "./catalogue.ts";
import { Decisions, type Outcome, type Refusal } from "./decisions.ts";
import { readStore } from "./group-commit.ts";
import { History } from "./history.ts";
import { Reports } from "./reports.ts";

export interface SqliteAdminOptions {
  readonly db: Database;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Runs work in a transaction. Resolves once it is committed. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** Told by how many events the backlog has grown. */
  readonly onChange?: (pending: number) => void;
}

/** So many events are decided about in one transaction: a few milliseconds, and others get their turn. */
const BATCH = 100;

const MAX_REASON_CHARACTERS = 500;

/** The administration of an inbox in a SQLite file: of the bot's own, or of one that another process uses. */
export class SqliteAdmin implements InboxAdmin {
  readonly #options: SqliteAdminOptions;
  readonly #catalogue: Catalogue;
  readonly #decisions: Decisions;
  readonly #reports: Reports;

  constructor(options: SqliteAdminOptions) {
    const { db } = options;
    this.#options = options;
    this.#catalogue = new Catalogue(db, new History(db));
    this.#decisions = new Decisions(db);
    this.#reports = new Reports(db);
  }

  async list(options: InboxListOptions = {}): Promise<InboxPage> {
    return readStore(() => this.#catalogue.list(options, this.#options.now()));
  }

  async show(id: string): Promise<EventDetails> {
    const found = readStore(() => this.#catalogue.show(id, this.#options.now()));
    if (found === undefined) throw refusal(id, "not-found");
    return found;
  }

  async retry(
    target: string | InboxFilter,
    { assume }: InboxRetryOptions = {},
  ): Promise<InboxChange> {
    return await this.#decide(target, "dead", (id, now) => this.#decisions.retry(id, assume, now));
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
    return await this.#decide(target, state, (id, now) => this.#decisions.discard(id, kept, now));
  }

  async stats(): Promise<InboxReport> {
    return readStore(() => this.#reports.report());
  }

  async #decide(
    target: string | InboxFilter,
    state: "dead" | "pending",
    decision: (id: string, now: number) => Outcome,
  ): Promise<InboxChange> {
    if (typeof target === "string") {
      const [outcome] = await this.#carryOut([target], decision);
      if (outcome !== undefined && "refused" in outcome) throw refusal(target, outcome.refused);
      return { changed: 1, skipped: 0 };
    }
    const ids = readStore(() => this.#decisions.targets(state, target));
    let changed = 0;
    for (let from = 0; from < ids.length; from += BATCH) {
      const outcomes = await this.#carryOut(ids.slice(from, from + BATCH), decision);
      changed += outcomes.filter((outcome) => !("refused" in outcome)).length;
    }
    return { changed, skipped: ids.length - changed };
  }

  async #carryOut(
    ids: readonly string[],
    decision: (id: string, now: number) => Outcome,
  ): Promise<readonly Outcome[]> {
    const { write, now, onChange } = this.#options;
    const outcomes = await write(() => ids.map((id) => decision(id, now())));
    const changes = outcomes.flatMap((outcome) => ("refused" in outcome ? [] : [outcome.pending]));
    if (changes.length > 0) onChange?.(changes.reduce<number>((sum, change) => sum + change, 0));
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
