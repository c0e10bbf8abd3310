import { randomUUID } from "node:crypto";
import type { Random } from "../../core/backoff.ts";
import { type Clock, systemClock } from "../../core/clock.ts";
import type { InboxAdmin } from "../admin.ts";
import type {
  Advance,
  Claim,
  ClaimRooms,
  CursorMove,
  Inbox,
  InboxCapabilities,
  InboxStats,
  NewEvent,
  PutResult,
  ReconcileResult,
  Retention,
  Source,
  StepStart,
} from "../inbox.ts";
import { inboxFull, MAX_BACKLOG } from "../limits.ts";
import type { InboxMeasures } from "../measures.ts";
import { postgresAdmin } from "./admin.ts";
import { Backlog } from "./backlog.ts";
import { Batches } from "./batches.ts";
import { Claims } from "./claims.ts";
import { refuseMarked } from "./copy-mark.ts";
import type { Database } from "./database.ts";
import { Endings } from "./endings.ts";
import { Held } from "./held.ts";
import { Lanes } from "./lanes.ts";
import { migrate, refuseTooNew, storedSchema } from "./migrate.ts";
import { type OpenOptions, openDatabase, openWith } from "./open.ts";
import { Reports } from "./reports.ts";
import { Sweeper } from "./retention.ts";
import { asTopic, PostgresShared } from "./shared/shared.ts";
import { Steps } from "./steps.ts";
import { WakeUps } from "./wake-ups.ts";

export interface PostgresInboxOptions extends OpenOptions {
  /** For the waits of this process; leases are on the database's clock alone. */
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  /** How many events may be pending before `put` refuses more (INBOX_FULL). Default 100,000. */
  readonly maxBacklog?: number | undefined;
}

/** What is ready and cannot be claimed, again and again, is looked at again after this, in milliseconds. */
const TAKEN_WAIT_MS = 50;

/** The inbox in a PostgreSQL database. */
export class PostgresInbox implements Inbox {
  readonly capabilities: InboxCapabilities = { guardsDisk: false };
  readonly admin: InboxAdmin;
  readonly shared: PostgresShared;
  readonly #database: Database;
  readonly #backlog: Backlog;
  readonly #batches: Batches;
  readonly #held: Held;
  readonly #claims: Claims;
  readonly #lanes: Lanes;
  readonly #endings: Endings;
  readonly #steps: Steps;
  readonly #reports: Reports;
  readonly #sweeper: Sweeper;
  readonly #wakeUps: WakeUps;
  readonly #listeners = new Set<() => void>();
  /** True when what is let go is for others alone. */
  #claimsNoMore = false;
  /** True when the last answer was that something is ready. */
  #saidReady = false;
  /** True when nothing could be claimed although something was ready: somebody else is at it. */
  #taken = false;

  /**
   * @throws {ServiceBotError} DRIVER_MISSING, INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED,
   *   INBOX_UNUSABLE
   */
  static async open(options: PostgresInboxOptions): Promise<PostgresInbox> {
    const database = await openDatabase(options);
    return await openWith(database, async () => {
      await migrate(database);
      await refuseMarked(database, options.url);
      const inbox = new PostgresInbox(database, options);
      await inbox.#backlog.recount();
      inbox.#wakeUps.start();
      return inbox;
    });
  }

  private constructor(database: Database, options: PostgresInboxOptions) {
    const { clock = systemClock, random, maxBacklog = MAX_BACKLOG } = options;
    const id = randomUUID();
    this.#database = database;
    this.#batches = new Batches(database);
    this.#held = new Held(clock);
    this.#claims = new Claims(database, id, this.#held);
    this.#lanes = new Lanes(database, id);
    this.#steps = new Steps(database, id);
    this.#reports = new Reports(database);
    this.#sweeper = new Sweeper(database);
    this.#backlog = new Backlog(maxBacklog, () => this.#reports.backlog());
    this.#endings = new Endings({
      queries: database,
      owner: id,
      held: this.#held,
      backlog: this.#backlog,
      onLetGo: () => this.#handOver(),
    });
    this.#wakeUps = new WakeUps({
      database,
      id,
      clock,
      random,
      onTopic: (topic) => this.shared.changed(asTopic(topic)),
      onWake: (why) => {
        this.#backlog.othersMayHaveChangedIt(why === "time");
        this.#announce();
      },
    });
    this.shared = new PostgresShared({
      ...{ database, id },
      tell: (topic) => this.#wakeUps.tellOf(topic),
      requireUsable: () => requireUsable(database, options.url),
    });
    this.admin = postgresAdmin(database, (pending) => {
      this.#backlog.add(pending);
      this.#announceToAll();
    });
  }

  async put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[] = [],
    trace?: string,
  ): Promise<PutResult> {
    if (this.#backlog.mayBeFull) await this.#refuseWhenFull(events);
    const result = await this.#backlog.watch(this.#batches.put(events, source, cursors, trace));
    const waiting = result.stored.length - result.unusable;
    this.#backlog.add(waiting);
    if (waiting > 0) this.#announceToAll();
    return result;
  }

  async claim(limit: number, leaseMs: number, rooms?: ClaimRooms): Promise<readonly Claim[]> {
    const claims = await this.#claims.claim(limit, leaseMs, rooms);
    this.#taken = this.#saidReady && this.#claims.foundNothing;
    this.#saidReady = false;
    return claims;
  }

  async extend(claims: readonly Claim[], leaseMs: number): Promise<readonly Claim[]> {
    const extended = await this.#lanes.extend(claims, leaseMs);
    const held = new Set(extended);
    for (const claim of claims) if (!held.has(claim)) this.#held.forget(claim);
    return extended;
  }

  stopClaiming(): void {
    this.#claimsNoMore = true;
    // What it has let go before, it would have claimed again.
    this.#handOver();
  }

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
    return this.#forgetting(claim, this.#lanes.retry(claim, delayMs, error));
  }

  async release(claim: Claim, delayMs: number, error?: string): Promise<boolean> {
    const released = await this.#forgetting(claim, this.#lanes.release(claim, delayMs, error));
    // As at the end of this process: somebody else can begin with it at once.
    if (released && delayMs === 0) this.#announceToAll();
    return released;
  }

  async nextReadyIn(): Promise<number | undefined> {
    const ms = await this.#lanes.nextReadyIn();
    this.#saidReady = ms === 0;
    return ms === 0 && this.#taken ? TAKEN_WAIT_MS : ms;
  }

  heal(): Promise<number> {
    return this.#lanes.heal();
  }

  sweep(keep: Retention): Promise<boolean> {
    return this.#sweeper.sweep(keep);
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

  claimedRefs(refs: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#steps.claimed(refs);
  }

  requestsUnderWay(claim: Claim, withinMs: number): Promise<readonly string[]> {
    return this.#steps.underWay(claim, withinMs);
  }

  cursor(name: string): Promise<string | undefined> {
    return this.#reports.cursor(name);
  }

  webhookTypes(): Promise<ReadonlySet<string>> {
    return this.#reports.webhookTypes();
  }

  stats(): Promise<InboxStats> {
    return this.#reports.stats();
  }

  measure(): Promise<InboxMeasures> {
    return this.#reports.measure();
  }

  ping(): Promise<void> {
    return this.#reports.ping();
  }

  onReady(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#wakeUps.close();
    await this.#database.close();
    await this.#claims.close();
  }

  /** Of a claim that is over, be it that its lease was lost. */
  async #forgetting(claim: Claim, ending: Promise<boolean>): Promise<boolean> {
    const held = await ending;
    this.#held.forget(claim);
    if (held) this.#handOver();
    return held;
  }

  /** What this process lets go it claims again by itself, unless it claims no more. */
  #handOver(): void {
    if (this.#claimsNoMore) this.#wakeUps.tell();
  }

  /** What is known already adds nothing, and a refusal would only have it sent once more. */
  async #refuseWhenFull(events: readonly NewEvent[]): Promise<void> {
    const pending = await this.#backlog.recount();
    if (pending < this.#backlog.most || (await this.#batches.allKnown(events))) return;
    throw inboxFull(pending, this.#backlog.most);
  }

  #announceToAll(): void {
    this.#announce();
    this.#wakeUps.tell();
  }

  #announce(): void {
    this.#taken = false;
    for (const listener of this.#listeners) listener();
  }
}

/** @throws {ServiceBotError} INBOX_TOO_NEW, INBOX_UNFINISHED, INBOX_MOVED */
async function requireUsable(database: Database, url: string): Promise<void> {
  refuseTooNew(await storedSchema(database));
  await refuseMarked(database, url);
}
