import { ServiceBotError } from "../../errors.ts";
import type { InboxAdmin } from "../admin.ts";
import type { NewEvent, Retention } from "../inbox.ts";
import type { InboxStats } from "../records.ts";
import { SqlAdmin } from "./admin.ts";
import { Reports } from "./reports.ts";
import { Sweeper, type SweepPhase } from "./retention.ts";
import type { SqlStore } from "./store.ts";

/** Pending events from which on more are refused, unless the options say otherwise. */
export const MAX_BACKLOG = 100_000;

const CURSOR = "SELECT position FROM {schema}.cursor WHERE name = $1";
const WEBHOOK_TYPES = "SELECT type FROM {schema}.webhook_type";
const BACKLOG = "SELECT count(*) AS n FROM {schema}.event WHERE state = 'pending'";

/** The part of an inbox that is the same in every database: all but what is put in, claimed, ended, and its steps. */
export abstract class SqlInbox {
  readonly admin: InboxAdmin;
  protected readonly reports: Reports;
  readonly #store: SqlStore;
  readonly #sweeper: Sweeper;
  readonly #claimedRefs: string;
  readonly #known: string;
  readonly #listeners = new Set<() => void>();

  protected constructor(store: SqlStore, phases: readonly SweepPhase[]) {
    this.#store = store;
    this.#sweeper = new Sweeper(store, phases);
    const { isAnyOf } = store.dialect;
    this.#claimedRefs = `SELECT ref FROM {schema}.step WHERE ${isAnyOf("ref", "$1")}`;
    this.#known = `SELECT count(*) AS n FROM {schema}.event WHERE ${isAnyOf("id", "$1")}`;
    this.reports = new Reports(store);
    this.admin = new SqlAdmin(store, (pending) => this.onDecided(pending));
  }

  /** Called after a decision, with the number of events by which the backlog has grown. */
  protected abstract onDecided(pending: number): void;

  async cursor(name: string): Promise<string | undefined> {
    const [row] = await this.#store.rows<{ readonly position: string }>(CURSOR, name);
    return row?.position;
  }

  async webhookTypes(): Promise<ReadonlySet<string>> {
    const rows = await this.#store.rows<{ readonly type: string }>(WEBHOOK_TYPES);
    return new Set(rows.map(({ type }) => type));
  }

  async claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#store.rows<{ readonly ref: string }>(this.#claimedRefs, refs);
    return new Set(rows.map(({ ref }) => ref));
  }

  stats(): Promise<InboxStats> {
    return this.reports.stats();
  }

  async ping(): Promise<void> {
    await this.#store.rows("SELECT 1");
  }

  sweep(keep: Retention): Promise<boolean> {
    return this.#sweeper.sweep(keep);
  }

  onReady(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  protected announce(): void {
    for (const listener of this.#listeners) listener();
  }

  protected async countPending(): Promise<number> {
    const [row] = await this.#store.rows<{ readonly n: number }>(BACKLOG);
    return row?.n ?? 0;
  }

  /** True when storing these events would add nothing. */
  protected async allKnown(events: readonly NewEvent[]): Promise<boolean> {
    const ids = [...new Set(events.map(({ id }) => id))];
    const [row] = await this.#store.rows<{ readonly n: number }>(this.#known, ids);
    return row?.n === ids.length;
  }
}

export function inboxFull(pending: number, max: number): ServiceBotError {
  const message = `${pending} events wait to be handled, and the limit is ${max}.`;
  return new ServiceBotError("INBOX_FULL", message);
}
