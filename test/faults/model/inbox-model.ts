import type {
  Claim,
  CursorMove,
  EventSummary,
  InboxStats,
  NewEvent,
  PutResult,
  Source,
  StepStart,
  StoredTimer,
} from "../../faces/inbox.ts";
import { compareIds, compareText, haveOneForm } from "./ids.ts";
import { KeptModel, type ModelEffects } from "./kept-model.ts";

/** How long a suspect event is postponed while another suspect is running, in ms. */
const SUSPECT_WAIT_MS = 200;

interface ModelStep {
  state: "open" | "absent" | "done";
  request: string;
  result: string;
  ref: string | undefined;
  startedAt: number;
}

interface ModelEvent extends NewEvent {
  readonly source: Source;
  /** Position in the order of arrival. */
  readonly seq: number;
  readonly receivedAt: number;
  readonly trace: string | undefined;
  readonly steps: Map<string, ModelStep>;
  state: "pending" | "done" | "dead";
  attempts: number;
  /** Number of runs that ended without an outcome. */
  crashes: number;
  endedAt: number;
  error: string;
}

interface ModelLane {
  /** `undefined` if the lane has no work. */
  readyAt: number | undefined;
  holder: number | undefined;
  /** The lane's last event that ended in time. */
  ended: { readonly id: string; readonly at: number } | undefined;
}

/** The claim that the model expects, without its fence. Stores choose fences freely; they only have to grow. */
export type ExpectedClaim = Omit<Claim, "fence">;

/**
 * The simplest possible inbox: maps in memory, and queries that scan all events. It has no counters, indexes or
 * transactions. Claims are numbered in order.
 */
export class InboxModel {
  now: number;
  readonly maxBacklog: number;
  readonly events: Map<string, ModelEvent> = new Map();
  readonly lanes: Map<string, ModelLane> = new Map();
  readonly cursors: Map<string, string> = new Map();
  readonly webhookTypes: Set<string> = new Set();
  /** State and timers, which outlive the run that wrote them. */
  readonly kept: KeptModel = new KeptModel();
  /** All claims, including those that have lost their lease. */
  readonly claims: { readonly lane: string; readonly id: string }[] = [];

  /** Number of a claim whose event may crash the process. */
  #suspect: number | undefined;
  /** Claims with lower numbers belong to a dead process. */
  #gone = 0;
  readonly #shared: boolean;

  /** @param shared true if other processes may use the inbox, so opening it must not end their leases */
  constructor(now: number, maxBacklog: number, shared: boolean) {
    this.now = now;
    this.maxBacklog = maxBacklog;
    this.#shared = shared;
  }

  /** Returns true if the inbox is full and at least one of these events is new. */
  refuses(events: readonly NewEvent[]): boolean {
    if (this.pending().length < this.maxBacklog) return false;
    return !events.every(({ id }) => this.events.has(id));
  }

  put(
    events: readonly NewEvent[],
    source: Source,
    cursors: readonly CursorMove[],
    trace?: string,
  ): PutResult {
    const fresh = events.filter((event) => this.#store(event, source, trace));
    if (source === "webhook") for (const { type } of events) this.webhookTypes.add(type);
    for (const { name, position } of cursors) this.cursors.set(name, position);
    return {
      stored: fresh.map(({ id }) => id),
      duplicates: events.length - fresh.length,
      unusable: fresh.filter(({ unusable }) => unusable !== undefined).length,
    };
  }

  fire(limit: number, toEvent: (timer: StoredTimer) => NewEvent): number {
    const due = this.kept.takeDue(limit, this.now);
    for (const timer of due) this.#store(toEvent(timer), "poll", undefined);
    return due.length;
  }

  /** Maps each waiting lane to the time at which it becomes, or became, ready. */
  waiting(): ReadonlyMap<string, number> {
    const waiting = new Map<string, number>();
    for (const [key, { readyAt }] of this.lanes) {
      if (readyAt !== undefined) waiting.set(key, readyAt);
    }
    return waiting;
  }

  /** Claims the lanes that have waited longest. Lanes that have waited equally long are claimed in key order. */
  claim(limit: number, leaseMs: number): ExpectedClaim[] {
    const ready = [...this.waiting()].filter(([, at]) => at <= this.now);
    ready.sort(([a, since], [b, until]) => since - until || compareText(a, b));
    const lanes = ready.slice(0, limit).map(([lane]) => lane);
    for (const lane of lanes) this.#lapse(lane);
    const admitted = this.#admit(lanes);
    return lanes
      .sort(compareText)
      .flatMap((lane) => this.#claimLane(lane, admitted, leaseMs) ?? []);
  }

  /** Events that have crashed twice run one at a time, oldest first. Returns the lane of the one that may run. */
  #admit(lanes: readonly string[]): string | undefined {
    if (this.#suspect !== undefined && this.#isLeased(this.#suspect)) return undefined;
    const heads = lanes.flatMap((lane) => this.pending(lane).slice(0, 1));
    const suspects = heads.filter(({ crashes }) => crashes >= 2);
    return suspects.sort((a, b) => a.seq - b.seq)[0]?.lane;
  }

  /** If the lane's lease has expired, ends the run so that the lane can be claimed. */
  #lapse(key: string): void {
    const lane = this.#lane(key);
    const [head] = this.pending(key);
    const held = lane.holder === undefined ? undefined : this.claims[lane.holder];
    if (head !== undefined && held?.id === head.id) head.crashes += 1;
    lane.holder = undefined;
  }

  #claimLane(
    lane: string,
    admitted: string | undefined,
    leaseMs: number,
  ): ExpectedClaim | undefined {
    const state = this.#lane(lane);
    const [head] = this.pending(lane);
    if (head === undefined) throw new Error(`${lane} has nothing to claim`);
    if (head.crashes >= 2) {
      if (lane !== admitted) {
        state.readyAt = this.now + SUSPECT_WAIT_MS;
        return undefined;
      }
      this.#suspect = this.claims.length;
    }
    return this.#lease(head, this.now + leaseMs);
  }

  #lease(head: ModelEvent, until: number): ExpectedClaim {
    const { lane, id, type, body, source, crashes, receivedAt, trace } = head;
    const state = this.#lane(lane);
    head.attempts += 1;
    state.readyAt = until;
    state.holder = this.claims.push({ lane, id }) - 1;
    const late = isLate(head, state);
    const attempt = head.attempts;
    return { lane, id, type, body, source, attempt, crashes, late, receivedAt, trace };
  }

  extend(claim: number, leaseMs: number): boolean {
    return this.#whileHeld(claim, (lane) => {
      lane.readyAt = this.now + leaseMs;
    });
  }

  end(claim: number, error?: string, effects?: ModelEffects): boolean {
    return this.#whileHeld(claim, (lane, event) => {
      event.state = error === undefined ? "done" : "dead";
      event.error = error ?? "";
      event.endedAt = this.now;
      if (effects !== undefined) this.kept.apply(effects, this.now);
      const { step = "", ...result } = effects?.result ?? {};
      const finished = event.steps.get(step);
      if (finished !== undefined) Object.assign(finished, { state: "done", ...result });
      lane.holder = undefined;
      lane.readyAt = this.pending(event.lane).length > 0 ? this.now : undefined;
      if (isOwn(event)) return;
      if (!isLate(event, lane)) lane.ended = { id: event.id, at: this.now };
    });
  }

  /**
   * Marks the event as done, and leases the lane's next event for the remaining lease time.
   *
   * @param pick chooses the next event if another call runs concurrently
   */
  advance(
    claim: number,
    pick: (pending: readonly ModelEvent[]) => ModelEvent | undefined = ([head]) => head,
    effects?: ModelEffects,
  ): { readonly held: boolean; readonly next: ExpectedClaim | undefined } {
    const key = this.claims[claim]?.lane ?? "";
    const until = this.lanes.get(key)?.readyAt ?? 0;
    if (!this.end(claim, undefined, effects)) return { held: false, next: undefined };
    const head = pick(this.pending(key));
    const waits = head === undefined || head.crashes >= 2 || until <= this.now;
    return { held: true, next: waits ? undefined : this.#lease(head, until) };
  }

  postpone(claim: number, delayMs: number, counts: boolean): boolean {
    return this.#whileHeld(claim, (lane, event) => {
      lane.holder = undefined;
      lane.readyAt = this.now + delayMs;
      if (!counts) event.attempts -= 1;
    });
  }

  beginStep(claim: number, name: string, request: string): StepStart | undefined {
    let start: StepStart | undefined;
    this.#whileHeld(claim, (_lane, { steps }) => {
      const step = steps.get(name);
      if (step === undefined || step.state === "absent") {
        const { now: startedAt } = this;
        steps.set(name, { state: "open", request, result: "", ref: undefined, startedAt });
        start = { state: step === undefined ? "new" : "absent" };
        return;
      }
      const { state, request: before, result } = step;
      const ageMs = this.now - step.startedAt;
      const recorded = { request: before, ageMs };
      start = state === "done" ? { state, result, ...recorded } : { state, ...recorded };
    });
    return start;
  }

  restartStep(claim: number, name: string, request: string): boolean {
    const open = { state: "open", request, result: "", ref: undefined, startedAt: this.now };
    return this.#changeStep(claim, name, (step) => Object.assign(step, open));
  }

  finishStep(claim: number, name: string, result: string, ref: string | undefined): boolean {
    const done = { state: "done", result, ref };
    return this.#changeStep(claim, name, (step) => Object.assign(step, done));
  }

  dropStep(claim: number, name: string): boolean {
    return this.#changeStep(claim, name, (step) => {
      if (step.state === "open") step.state = "absent";
    });
  }

  #changeStep(claim: number, name: string, change: (step: ModelStep) => void): boolean {
    let changed = false;
    this.#whileHeld(claim, (_lane, { steps }) => {
      const step = steps.get(name);
      if (step === undefined) return;
      change(step);
      changed = true;
    });
    return changed;
  }

  /** Recovers from a crash. Unless the inbox is shared, all leases end and their lanes become ready. */
  recover(): void {
    this.#gone = this.claims.length;
    if (this.#shared) return;
    this.#suspect = undefined;
    for (const lane of this.lanes.values()) {
      if (lane.holder === undefined) continue;
      const event = this.events.get(this.claims[lane.holder]?.id ?? "");
      if (event !== undefined) event.crashes += 1;
      lane.holder = undefined;
      lane.readyAt = this.now;
    }
    for (const [key, lane] of this.lanes) {
      if (lane.readyAt === undefined || lane.readyAt > this.now) continue;
      lane.readyAt = this.#oldestIn(key);
    }
  }

  /** Returns since when a lane waits that was idle although it has events. */
  healedAt(key: string): number {
    return this.#shared ? this.now : this.#oldestIn(key);
  }

  /** A file does not record since when a lane waits, so the oldest event counts. */
  #oldestIn(key: string): number {
    return Math.min(...this.pending(key).map(({ receivedAt }) => receivedAt));
  }

  holds(claim: number): boolean {
    return claim >= this.#gone && this.#isLeased(claim);
  }

  /** Returns true until another claim takes the lane, even if the process that made this claim has died. */
  #isLeased(claim: number): boolean {
    const lane = this.claims[claim]?.lane;
    return lane !== undefined && this.lanes.get(lane)?.holder === claim;
  }

  /** In the order in which they will be handled. */
  pending(lane?: string): ModelEvent[] {
    return [...this.events.values()]
      .filter((event) => event.state === "pending" && (lane ?? event.lane) === event.lane)
      .sort((a, b) => compareOrder(a, b) || a.seq - b.seq);
  }

  stats(): InboxStats {
    const of = (state: string) => [...this.events.values()].filter((e) => e.state === state);
    const received = of("pending").map(({ receivedAt }) => receivedAt);
    return {
      pending: received.length,
      done: of("done").length,
      dead: of("dead").length,
      oldestPendingAt: received.length === 0 ? undefined : Math.min(...received),
    };
  }

  deadLetters(): EventSummary[] {
    const run = { leased: false, run: undefined, wait: undefined };
    const known = { ...run, discardReason: undefined, skipReason: undefined };
    return [...this.events.values()]
      .filter(({ state }) => state === "dead")
      .map(({ id, type, lane, state, source, attempts, error, receivedAt, endedAt, trace }) => {
        const event = { id, type, lane, state, source, attempts, error, receivedAt, endedAt };
        return { ...event, trace: trace?.slice(0, 32), ...known };
      });
  }

  refs(): ReadonlySet<string> {
    const steps = [...this.events.values()].flatMap((event) => [...event.steps.values()]);
    return new Set(steps.map(({ ref }) => ref).filter((ref) => ref !== undefined));
  }

  #store(event: NewEvent, source: Source, trace: string | undefined): boolean {
    if (this.events.has(event.id)) return false;
    const { unusable } = event;
    const { now } = this;
    this.events.set(event.id, {
      ...event,
      source,
      seq: this.events.size,
      receivedAt: now,
      trace,
      steps: new Map(),
      state: unusable === undefined ? "pending" : "dead",
      attempts: 0,
      crashes: 0,
      endedAt: now,
      error: unusable ?? "",
    });
    if (unusable === undefined) this.#lane(event.lane).readyAt ??= now;
    return true;
  }

  #lane(key: string): ModelLane {
    const lane = this.lanes.get(key) ?? { readyAt: undefined, holder: undefined, ended: undefined };
    this.lanes.set(key, lane);
    return lane;
  }

  #whileHeld(claim: number, work: (lane: ModelLane, event: ModelEvent) => void): boolean {
    if (!this.holds(claim)) return false;
    const { lane, id } = this.claims[claim] ?? { lane: "", id: "" };
    const event = this.events.get(id);
    if (event === undefined) throw new Error(`claim ${claim} has no event`);
    work(this.#lane(lane), event);
    return true;
  }
}

/** The bot's own events come first, and are never late. */
function isOwn({ ord }: NewEvent): boolean {
  return ord === "";
}

const DAY_MS = 24 * 60 * 60_000;

/** An id says nothing about the order of ids of another form, nor about events that arrive a day later. */
function isLate(event: ModelEvent, { ended }: ModelLane): boolean {
  if (isOwn(event) || ended === undefined || !haveOneForm(event.id, ended.id)) return false;
  return compareIds(event.id, ended.id) < 0 && event.receivedAt <= ended.at + DAY_MS;
}

function compareOrder(a: NewEvent, b: NewEvent): number {
  if (isOwn(a) || isOwn(b)) return Number(isOwn(b)) - Number(isOwn(a));
  return compareIds(a.id, b.id);
}
