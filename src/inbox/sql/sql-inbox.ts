import { ServiceBotError } from "../../errors.ts";
import type { InboxAdmin } from "../admin.ts";
import type { Advance, Claim, NewEvent, ReconcileResult, Retention, StepStart } from "../inbox.ts";
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

/** Records the outcomes of runs. False if the lease was lost. */
export interface Endings {
  /** Ends the event as done, or as a dead letter if there is an error. */
  end(claim: Claim, error?: string): Promise<boolean>;
  advance(claim: Claim): Promise<Advance>;
  retry(claim: Claim, delayMs: number, error: string): Promise<boolean>;
  release(claim: Claim, delayMs: number, error?: string): Promise<boolean>;
}

/** Records the intents and results of steps, while the claim of their event holds. */
export interface Steps {
  begin(claim: Claim, name: string, request: string): Promise<StepStart | undefined>;
  restart(claim: Claim, name: string, request: string): Promise<boolean>;
  finish(claim: Claim, name: string, result: string, ref?: string): Promise<boolean>;
  adopt(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult>;
  drop(claim: Claim, name: string): Promise<boolean>;
  underWay(claim: Claim, withinMs: number): Promise<readonly string[]>;
}

export interface SqlInboxParts {
  readonly store: SqlStore;
  readonly sweepPhases: readonly SweepPhase[];
  readonly endings: Endings;
  readonly steps: Steps;
}

/** The part of an inbox that is the same in every database. */
export abstract class SqlInbox {
  readonly admin: InboxAdmin;
  protected readonly reports: Reports;
  readonly #store: SqlStore;
  readonly #sweeper: Sweeper;
  readonly #endings: Endings;
  readonly #steps: Steps;
  readonly #claimedRefs: string;
  readonly #known: string;
  readonly #listeners = new Set<() => void>();

  protected constructor({ store, sweepPhases, endings, steps }: SqlInboxParts) {
    this.#store = store;
    this.#endings = endings;
    this.#steps = steps;
    this.#sweeper = new Sweeper(store, sweepPhases);
    const { isAnyOf } = store.dialect;
    this.#claimedRefs = `SELECT ref FROM {schema}.step WHERE ${isAnyOf("ref", "$1")}`;
    this.#known = `SELECT count(*) AS n FROM {schema}.event WHERE ${isAnyOf("id", "$1")}`;
    this.reports = new Reports(store);
    this.admin = new SqlAdmin(store, (pending) => this.onDecided(pending));
  }

  /** Called after a decision, with the number of events by which the backlog has grown. */
  protected abstract onDecided(pending: number): void;

  complete(claim: Claim): Promise<boolean> {
    return this.#endings.end(claim);
  }

  advance(claim: Claim): Promise<Advance> {
    return this.#endings.advance(claim);
  }

  bury(claim: Claim, error: string): Promise<boolean> {
    return this.#endings.end(claim, error);
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#endings.retry(claim, delayMs, error);
  }

  release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    return this.#endings.release(claim, delayMs, error);
  }

  beginStep(claim: Claim, name: string, request: string): Promise<StepStart | undefined> {
    return this.#steps.begin(claim, name, request);
  }

  restartStep(claim: Claim, name: string, request: string): Promise<boolean> {
    return this.#steps.restart(claim, name, request);
  }

  finishStep(claim: Claim, name: string, result: string, ref?: string): Promise<boolean> {
    return this.#steps.finish(claim, name, result, ref);
  }

  adoptStep(claim: Claim, name: string, result: string, ref: string): Promise<ReconcileResult> {
    return this.#steps.adopt(claim, name, result, ref);
  }

  dropStep(claim: Claim, name: string): Promise<boolean> {
    return this.#steps.drop(claim, name);
  }

  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]> {
    return this.#steps.underWay(claim, withinMs);
  }

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
