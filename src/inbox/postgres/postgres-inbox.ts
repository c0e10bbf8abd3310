import { randomUUID } from "node:crypto";
import type { Random } from "../../core/clock.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { InboxMeasures } from "../admin.ts";
import type { Effects, FiredTimers, StoredState, StoredTimer } from "../effects.ts";
import type { SkipReason } from "../event-records.ts";
import type {
  Advance,
  Claim,
  ClaimRooms,
  CursorMove,
  Inbox,
  InboxCapabilities,
  NewEvent,
  PutResult,
  Source,
} from "../inbox.ts";
import { refuseMarked } from "../sql/marks.ts";
import { type HowEnded, MAX_BACKLOG, SqlInbox } from "../sql/sql-inbox.ts";
import { Claims } from "./claims.ts";
import type { Database } from "./database.ts";
import { sweepPhases } from "./dialect.ts";
import { findStates } from "./effects.ts";
import { PostgresEndings } from "./endings.ts";
import { Gather } from "./gather.ts";
import { Backlog, Intake } from "./intake.ts";
import { LeaseLedger } from "./lease-ledger.ts";
import {
  migrate,
  nameOfInbox,
  type OpenOptions,
  openDatabase,
  openWith,
  refuseTooNew,
  storedSchema,
} from "./open.ts";
import { Sessions } from "./presence.ts";
import { PostgresShared } from "./shared.ts";
import { Timers } from "./timers.ts";
import { WakeUps } from "./wake-ups.ts";

export interface PostgresInboxOptions extends OpenOptions {
  /** Clock for this process's waits. Leases use the database's clock. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** Maximum number of pending events before `put` refuses new events (INBOX_FULL). Default 100,000. */
  readonly maxBacklog?: number | undefined;
}

/** Pause before the next claim while other instances hold all ready lanes, in ms. It avoids a busy loop. */
const TAKEN_WAIT_MS = 50;

/** Maximum number of `states` calls per statement. */
const MAX_STATE_READS = 100;

/** Inbox in a PostgreSQL database. */
export class PostgresInbox extends SqlInbox implements Inbox {
  readonly capabilities: InboxCapabilities = { guardsDisk: false };
  readonly shared: PostgresShared;
  readonly problem = undefined;
  readonly #database: Database;
  readonly #backlog: Backlog;
  readonly #intake: Intake;
  readonly #claims: Claims;
  readonly #endings: PostgresEndings;
  readonly #timers: Timers;
  readonly #states: Gather<readonly string[], StoredState[]>;
  readonly #wakeUps: WakeUps;
  #claimsNoMore = false;
  /** True if the last call to `nextReadyIn` found a ready lane. */
  #saidReady = false;
  /** True if a lane was ready but could not be claimed. */
  #foundNone = false;

  /** @throws {ServiceBotError} DRIVER_MISSING, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED, INBOX_UNUSABLE */
  static async open(options: PostgresInboxOptions): Promise<PostgresInbox> {
    const database = await openDatabase(options);
    return await openWith(database, async () => {
      await migrate(database);
      await requireUsable(database, options.url);
      const inbox = new PostgresInbox(database, options);
      await inbox.#backlog.recount();
      inbox.#wakeUps.start();
      return inbox;
    });
  }

  private constructor(database: Database, options: PostgresInboxOptions) {
    const { clock = systemClock, random, maxBacklog = MAX_BACKLOG } = options;
    const id = randomUUID();
    const ledger = new LeaseLedger(clock);
    const backlog = new Backlog(maxBacklog, () => this.countPending());
    const onLetGo = () => this.#handOver();
    super({
      store: database,
      sweepPhases: sweepPhases(),
      owner: id,
    });
    this.#endings = new PostgresEndings({ store: database, owner: id, ledger, backlog, onLetGo });
    this.#database = database;
    this.#backlog = backlog;
    this.#intake = new Intake(database);
    this.#claims = new Claims(database, id, ledger);
    this.#timers = new Timers(database);
    this.#states = new Gather((reads) => findStates(database, reads), MAX_STATE_READS);
    this.#wakeUps = new WakeUps({
      database,
      id,
      clock,
      random,
      sessions: new Sessions({ database, id, clock, onFreed: () => this.#announceFreed() }),
      onReconnected: () => this.announceDoubt(),
      onTopic: (topic) => this.shared.changed(topic),
      onWake: (why) => {
        this.#backlog.othersMayHaveChangedIt(why === "time");
        this.#announceHere();
      },
    });
    this.shared = new PostgresShared({
      queries: database,
      id,
      notify: (topic) => this.#wakeUps.notifyOf(topic),
      register: () => this.#wakeUps.register(),
      requireUsable: () => requireUsable(database, options.url),
    });
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
    trace?: string,
  ): Promise<PutResult> {
    if (this.#backlog.mayBeFull) await this.#refuseWhenFull(events);
    const result = await this.#backlog.watch(this.#intake.put(events, source, cursors, trace));
    this.#countStored(result);
    return result;
  }

  async claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]> {
    const claims = await this.#claims.claim(limit, leaseMs, rooms);
    this.#foundNone = this.#saidReady && this.#claims.foundNothing;
    this.#saidReady = false;
    return claims;
  }

  stopClaiming(): void {
    this.#claimsNoMore = true;
    // This process had expected to claim the lanes it released earlier.
    this.#handOver();
  }

  extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]> {
    return this.#claims.extend(claims, leaseMs);
  }

  async advance(
    claim: Claim,
    effects?: Effects,
    _leaseMs?: number,
    skipped?: SkipReason,
  ): Promise<Advance> {
    const advance = await this.#endings.advance(claim, { effects, skipped });
    if (advance.held && effects !== undefined) this.announceTimers(effects);
    return advance;
  }

  states(keys: readonly string[]): Promise<readonly StoredState[]> {
    return this.#states.add(keys);
  }

  async fireTimers(limit: number, toEvent: (timer: StoredTimer) => NewEvent): Promise<FiredTimers> {
    const { stored, ...fired } = await this.#backlog.watch(this.#timers.fire(limit, toEvent));
    if (stored !== undefined) this.#countStored(stored);
    return fired;
  }

  retry(claim: Claim, delayMs: number, error: string): Promise<boolean> {
    return this.#endings.retry(claim, delayMs, error);
  }

  async release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    const released = await this.#endings.release(claim, delayMs, error);
    // Another instance can start the event at once, for example because this process is shutting down.
    if (released && delayMs === 0) this.#announceToAll();
    return released;
  }

  async nextReadyIn(): Promise<number | undefined> {
    const ms = await this.#claims.nextReadyIn();
    this.#saidReady = ms === 0;
    return ms === 0 && this.#foundNone ? TAKEN_WAIT_MS : ms;
  }

  heal(): Promise<number> {
    return this.#claims.heal();
  }

  async measure(): Promise<InboxMeasures> {
    return { ...(await this.reports.measure()), disk: undefined };
  }

  async close(): Promise<void> {
    await this.#wakeUps.close();
    await this.#database.close();
    await this.#claims.close();
  }

  protected onDecided(pending: number): void {
    this.#backlog.add(pending);
    this.#announceToAll();
  }

  protected async end(claim: Claim, how: HowEnded): Promise<boolean> {
    const held = await this.#endings.end(claim, how);
    if (held && how.effects !== undefined) this.announceTimers(how.effects);
    return held;
  }

  #countStored({ stored, unusable }: PutResult): void {
    const pending = stored.length - unusable;
    this.#backlog.add(pending);
    if (pending > 0) this.#announceToAll();
  }

  /** If this process has stopped claiming, notifies the other instances of released lanes. */
  #handOver(): void {
    if (this.#claimsNoMore) this.#wakeUps.notify();
  }

  async #refuseWhenFull(events: readonly NewEvent[]): Promise<void> {
    const [pending, { max }] = [await this.#backlog.recount(), this.#backlog];
    if (pending >= max) await this.refuseUnlessKnown(events, pending, max);
  }

  /** Another instance's lanes, its timers and its turn to read the event log can be taken over. */
  #announceFreed(): void {
    this.#announceToAll();
    this.announceDue(0);
    this.shared.changed("leader");
    this.#wakeUps.notifyOf("leader");
  }

  #announceToAll(): void {
    this.#announceHere();
    this.#wakeUps.notify();
  }

  #announceHere(): void {
    this.#foundNone = false;
    this.announce();
  }
}

/** @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED */
async function requireUsable(database: Database, url: string): Promise<void> {
  await database.run(function* () {
    refuseTooNew(yield* storedSchema());
    yield* refuseMarked(database.dialect, nameOfInbox(url, database.schema));
  });
}
