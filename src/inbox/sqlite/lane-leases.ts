import type { Database } from "better-sqlite3";
import type { Clock } from "../../core/clock.ts";
import type { Claim, ClaimRooms } from "../inbox.ts";
import { type HowEnded, SUSPECT_CRASHES, SUSPECT_WAIT_MS } from "../sql/sql-inbox.ts";
import { Demand, fullTypes } from "./demands.ts";
import type { EffectWriter } from "./effects.ts";
import { Fences } from "./fences.ts";
import type { TransactionMemory } from "./group-commit.ts";
import type { History } from "./history.ts";
import { HEAD, type Lane, type Lanes, PlacedClaim, type PlacedRow } from "./lanes.ts";
import { TextStatement, type Values } from "./text-statement.ts";

/** Result of a run's end. `conflict`: a state has changed since the run read it, so nothing was written. */
export type Ending = "ended" | "lost" | "conflict";

/** A lane to lease for its first event. */
interface Chosen {
  readonly lane: Lane;
  readonly head: PlacedRow;
  readonly demand: Demand;
}

/** Number of further lanes to look at if the first ones do not fit the demands. */
const MORE_LANES = 64;

/** Guards every write of a run. Nothing is written once another run has the event, or an operator has discarded it. */
const RUNNING = "seq = ? AND fence = ? AND leased_until IS NOT NULL AND state = 'pending'";

const stop = (change: string) =>
  `UPDATE event SET ${change}, attempts = attempts + ?, leased_until = NULL WHERE ${RUNNING}`;

const statementsIn = (db: Database) => ({
  head: new TextStatement<[lane: string], PlacedRow>(
    db,
    `SELECT ${HEAD} FROM event WHERE lane = +? AND state = 'pending' ORDER BY ord, seq LIMIT 1`,
  ),
  isRunning: db.prepare<Values>(`SELECT 1 FROM event WHERE ${RUNNING}`),
  begin: db.prepare<Values>(
    "UPDATE event SET fence = ?, leased_until = ?, begun_at = ? WHERE seq = ? AND state = 'pending'",
  ),
  extend: db.prepare<Values>(`UPDATE event SET leased_until = ? WHERE ${RUNNING}`),
  done: db.prepare<Values>(stop("state = 'done', error = NULL, done_at = ?")),
  end: new TextStatement<Values>(db, stop("state = ?, error = ?, reason = ?, done_at = ?")),
  stop: new TextStatement<Values>(db, stop("error = coalesce(?, error)")),
});

export interface LaneLeasesOptions {
  readonly lanes: Lanes;
  readonly history: History;
  readonly effects: EffectWriter;
  readonly clock: Clock;
}

/**
 * Leases lanes with their first events, and ends the leases when runs end. Every method must be called inside a
 * transaction. The row of a running event names its run, so that the next start can count a crash.
 */
export class LaneLeases implements TransactionMemory {
  readonly #options: LaneLeasesOptions;
  readonly #lanes: Lanes;
  readonly #sql: ReturnType<typeof statementsIn>;
  readonly #fences: Fences;
  /** Slots to fill at the end of this transaction. */
  #demands: Demand[] = [];

  constructor(db: Database, options: LaneLeasesOptions) {
    this.#options = options;
    this.#lanes = options.lanes;
    this.#sql = statementsIn(db);
    this.#fences = new Fences(db);
  }

  begin(): void {
    this.#demands = [];
    if (this.#lanes.areDiscarded) this.#lanes.restore(this.#options.clock.now());
  }

  undone(): void {
    this.#lanes.discard();
    this.#fences.undone();
  }

  /** Claims up to `limit` lanes. The list is complete at the end of the transaction. */
  claim(limit: number, leaseMs: number, now: number, rooms?: ClaimRooms): readonly Claim[] {
    const demand = new Demand(limit, now + leaseMs, undefined, rooms);
    this.#demands.push(demand);
    return demand.claims;
  }

  serve(): void {
    if (this.#demands.length === 0) return;
    const now = this.#options.clock.now();
    for (const { lane, head, demand } of this.#choose(now)) {
      if (head.crashes >= SUSPECT_CRASHES && this.#isSuspectRunning()) {
        this.#lanes.postpone(lane, now + SUSPECT_WAIT_MS);
      } else {
        const claim = this.#begin(lane, head, demand.until, now);
        if (claim !== undefined) demand.claims.push(claim);
      }
    }
  }

  extend(claims: readonly Claim[], leaseMs: number, now: number): Claim[] {
    const until = now + leaseMs;
    return claims.filter((claim) => {
      const lane = this.#lanes.leasedBy(claim);
      if (lane === undefined) return false;
      const isRunning = this.#sql.extend.run(until, lane.claim.seq, claim.fence).changes > 0;
      if (isRunning) lane.readyAt = until;
      else this.#letGo(claim, now);
      return isRunning;
    });
  }

  /** Ends the event as done, or as a dead letter if there is an error. */
  end(claim: Claim, now: number, how: HowEnded = {}): Ending {
    const ending = this.#end(claim, now, how);
    if (ending !== "conflict") this.#letGo(claim, now);
    return ending;
  }

  /**
   * Ends the event and continues with the lane's next event. With `leaseMs`, continues with another lane if this lane
   * is empty. Its event must have the same type, because the caller has a free slot for this type only. Returns the
   * next claim, in a list that is complete at the end of the transaction.
   */
  advance(
    claim: Claim,
    now: number,
    how: Omit<HowEnded, "error">,
    leaseMs?: number,
  ): readonly Claim[] | "lost" | "conflict" {
    const ending = this.#end(claim, now, how);
    if (ending === "conflict") return ending;
    const following = ending === "ended" ? this.#goOn(claim, now) : undefined;
    if (following !== undefined) return [following];
    this.#letGo(claim, now);
    if (ending === "lost") return ending;
    if (leaseMs === undefined) return [];
    const demand = new Demand(1, now + leaseMs, claim.type);
    this.#demands.push(demand);
    return demand.claims;
  }

  /** Ends the run without an outcome, and closes the lane for a time. A run that failed counts as an attempt. */
  postpone(
    claim: Claim,
    now: number,
    delayMs: number,
    outcome: "failed" | "released",
    error?: string,
  ): boolean {
    const lane = this.#lanes.leasedBy(claim);
    if (lane === undefined) return false;
    const [shown, attempts] = outcome === "failed" ? [error ?? null, 1] : [null, 0];
    if (this.#sql.stop.run(shown, attempts, lane.claim.seq, claim.fence) === 0) {
      this.#letGo(claim, now);
      return false;
    }
    this.#lanes.postpone(lane, now + delayMs);
    if (error !== undefined) this.#options.history.add(claim, outcome, error, now);
    return true;
  }

  /**
   * Takes slots for lanes, longest waiting first. Returns them in the order in which their events arrived, which
   * decides the first suspect. By key, a lane could wait forever behind suspects of other lanes.
   */
  #choose(now: number): readonly Chosen[] {
    const chosen = new Map<string, Chosen>();
    const full = fullTypes(this.#demands);
    const slots = this.#demands.reduce((sum, { left }) => sum + left, 0);
    for (const limit of [slots, slots + MORE_LANES]) {
      const lanes = this.#lanes.ready(limit, full, now);
      for (const lane of lanes) {
        if (chosen.size === slots) break;
        if (!chosen.has(lane.key)) this.#chooseIfFits(lane, chosen, now);
      }
      if (chosen.size === slots || lanes.length < limit) break;
    }
    return [...chosen.values()].sort((a, b) => a.head.seq - b.head.seq);
  }

  #chooseIfFits(lane: Lane, chosen: Map<string, Chosen>, now: number): void {
    const head = lane.arrival ?? this.#sql.head.get(lane.key);
    if (head === undefined) {
      this.#lanes.release(lane);
      return;
    }
    // Only a claim decides whether a suspect may run, so a demand of one type does not take what may become a suspect.
    const maySuspect = head.crashes + 1 >= SUSPECT_CRASHES;
    const demand = this.#demands.find((demand) => {
      return demand.fits(head.type) && (demand.type === undefined || !maySuspect);
    });
    if (demand === undefined) return;
    demand.takeSlot(head.type);
    chosen.set(lane.key, { lane, head: this.#endExpired(lane, head, now), demand });
  }

  /** Ends an expired lease, and counts its run. Returns the first event with its number of runs. */
  #endExpired(lane: Lane, head: PlacedRow, now: number): PlacedRow {
    const { claim } = lane;
    if (claim === undefined) return head;
    this.#lanes.release(lane);
    const { fence, seq } = claim;
    if (seq !== head.seq) {
      this.#sql.stop.run(null, 1, seq, fence);
      return head;
    }
    const [attempts, crashes] = [head.attempts + 1, head.crashes + 1];
    this.#options.history.addCrash({ id: head.id, fence, attempt: attempts }, now);
    return { ...head, attempts, crashes };
  }

  /** Suspects run one at a time, so that the event that crashes the process becomes a dead letter alone. */
  #isSuspectRunning(): boolean {
    return [...this.#lanes.leased].some(({ claim }) => (claim?.crashes ?? 0) >= SUSPECT_CRASHES);
  }

  /** Leases the lane for its first event. Returns `undefined` if another process has discarded the event. */
  #begin(lane: Lane, head: PlacedRow, until: number, now: number): PlacedClaim | undefined {
    const fence = this.#fences.next();
    if (this.#sql.begin.run(fence, until, now, head.seq).changes === 0) {
      this.#lanes.release(lane);
      return undefined;
    }
    const claim = new PlacedClaim(lane, fence, head);
    this.#lanes.lease(lane, claim, until, head !== lane.arrival);
    return claim;
  }

  /** Continues with the lane's next event. `undefined` if there is none or the lease has expired. */
  #goOn(claim: Claim, now: number): PlacedClaim | undefined {
    const lane = this.#lanes.leasedBy(claim);
    if (lane === undefined || !lane.hasMore || lane.readyAt <= now) return undefined;
    const head = this.#sql.head.get(lane.key);
    // Leave a suspect to the lane's next claim, which decides whether it may run.
    if (head === undefined || head.crashes >= SUSPECT_CRASHES) return undefined;
    return this.#begin(lane, head, lane.readyAt, now);
  }

  #end(claim: Claim, now: number, { error, effects, skipped }: HowEnded): Ending {
    const lane = this.#lanes.leasedBy(claim);
    if (lane === undefined) return "lost";
    const { seq, fence } = lane.claim;
    if (effects !== undefined) {
      if (this.#sql.isRunning.get(seq, fence) === undefined) return "lost";
      if (!this.#options.effects.write(effects, claim, now)) return "conflict";
    }
    const state = error === undefined ? "done" : "dead";
    const changes =
      error === undefined && skipped === undefined
        ? this.#sql.done.run(now, 1, seq, fence).changes
        : this.#sql.end.run(state, error ?? null, skipped ?? null, now, 1, seq, fence);
    if (changes === 0) return "lost";
    this.#lanes.noteEnd(lane, lane.claim, now);
    if (error !== undefined) this.#options.history.add(claim, "dead", error, now);
    return "ended";
  }

  /** Ends the lease. A lane with more events goes behind the others. */
  #letGo(claim: Claim, now: number): void {
    const lane = this.#lanes.leasedBy(claim);
    if (lane === undefined) return;
    if (lane.hasMore && this.#sql.head.get(lane.key) !== undefined) this.#lanes.postpone(lane, now);
    else this.#lanes.release(lane);
  }
}
