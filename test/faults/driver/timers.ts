import { commentOn, timerAnswers } from "../bot/behaviours.ts";
import { sum } from "../report.ts";
import { countTexts } from "./checker.ts";
import type { States } from "./counters.ts";

/** Timestamps are in ms since 1970, durations in ms. */
export interface Reminder {
  readonly number: number;
  readonly delayMs: number;
  readonly writtenAt: number;
}

export interface OwnEvent {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly dueAt: number;
  readonly receivedAt: number;
  /** Number of the reminder, or `undefined` for a cron job. */
  readonly number?: number | undefined;
}

export interface Arrival {
  readonly text: string;
  readonly at: number;
}

export interface Life {
  readonly startedAt: number;
  readonly from: number;
  readonly to: number;
}

/** Tolerance, in ms. A process keeps the clock offset it started with even when the machine's clock is corrected. */
const CLOCKS_MS = 50;

/** Checks that each timer fired exactly once, and that none fired early by the store's clock or the platform's. */
export function checkTimers(
  reminders: readonly Reminder[],
  events: readonly OwnEvent[],
  arrivals: readonly Arrival[],
): string[] {
  const fired = Map.groupBy(events, ({ number = Number.NaN }) => number);
  const arrived = new Map(arrivals.map(({ text, at }) => [text, at]));
  const known = new Set(reminders.map(({ number }) => number));
  const wrong = reminders.flatMap(({ number, delayMs, writtenAt }) => {
    const [event, ...more] = fired.get(number) ?? [];
    const at = arrived.get(timerAnswers.due(number));
    if (event === undefined || at === undefined) return [`lost: timer ${number} has not fired`];
    const { state, dueAt, receivedAt } = event;
    const due = writtenAt + delayMs;
    const found = [
      more.length > 0 && `duplicated: timer ${number} fired ${more.length + 1} times`,
      state !== "done" && `lost: the event of timer ${number} is ${state}`,
      dueAt < due - CLOCKS_MS && `early: timer ${number} was due ${due - dueAt} ms before its time`,
      receivedAt < dueAt && `early: timer ${number} fired ${dueAt - receivedAt} ms early`,
      at < due - CLOCKS_MS && `early: the reply to timer ${number} came ${due - at} ms early`,
    ];
    return found.filter((violation) => violation !== false);
  });
  const invented = [...fired.keys()].filter((number) => !known.has(number));
  return [...wrong, ...invented.map((number) => `unexpected: timer ${number} has fired`)];
}

/** Checks that only the timers due after the run are still waiting. */
export function checkWaiting(far: Iterable<number>, timers: readonly string[]): string[] {
  const waiting = new Set(timers);
  const due = new Set(Array.from(far, String));
  return [
    ...[...due]
      .filter((key) => !waiting.has(key))
      .map((key) => `lost: timer ${key} is no longer waiting`),
    ...[...waiting]
      .filter((key) => !due.has(key))
      .map((key) => `unexpected: timer ${key} is still waiting`),
  ];
}

export function checkFired(count: number, states: States): string[] {
  const fired = sum([...states.values()].map((state) => state.fired));
  return fired === count ? [] : [`miscounted: the states count ${fired} timers, not ${count}`];
}

const PERIOD_MS = 1_000;

/** Time for a running instance to store a due tick and reply to it, in ms. Allows for a busy machine. */
const GRACE_MS = 2_000;

export interface Moments {
  readonly violations: readonly string[];
  /** Number of ticks while an instance was up, plus the last missed tick of each gap. */
  readonly owed: number;
  /** Number of ticks while no instance was up. */
  readonly missed: number;
}

/**
 * Checks a cron job that fires every second with `missed: "last"`. Each tick while an instance is up makes one event
 * with one reply. Of the ticks in a gap, only the last makes an event.
 *
 * @param stoppedAt when the last instance received the stop signal
 */
export function checkMoments(
  events: readonly OwnEvent[],
  arrivals: readonly Arrival[],
  lives: readonly Life[],
  stoppedAt: number,
): Moments {
  const present = new Map(events.map((event) => [event.dueAt, event]));
  const first = Math.min(...present.keys());
  const owed = new Set(lives.flatMap(momentsIn).filter((moment) => moment >= first));
  const last = Math.max(...present.keys(), ...owed);
  const said = countTexts(arrivals.map(({ text }) => text));
  const known = new Set(events.map(({ id }) => commentOn(id)));
  const violations = [
    ...(present.size === 0 ? ["lost: no tick has fired"] : []),
    ...[...owed].filter((moment) => !present.has(moment)).map((moment) => `lost: ${iso(moment)}`),
    ...events.flatMap((event) => checkMoment(event, said, stoppedAt)),
    ...findMadeUp(events, lives).map(
      ({ id }) => `unexpected: ${id} was missed but was not the last missed tick`,
    ),
    ...[...said.keys()].filter((text) => !known.has(text)).map((text) => `unexpected: "${text}"`),
    ...(present.size === events.length ? [] : ["duplicated: a tick has two events"]),
  ];
  const passed = present.size === 0 ? 0 : (last - first) / PERIOD_MS + 1;
  return { violations, owed: owed.size, missed: passed - present.size };
}

function checkMoment(
  { id, state, dueAt, receivedAt }: OwnEvent,
  said: ReadonlyMap<string, number>,
  stoppedAt: number,
): string[] {
  const times = said.get(commentOn(id)) ?? 0;
  // The last ticks before the stop may be left for the next start.
  const mayWait = state === "pending" && receivedAt > stoppedAt - GRACE_MS;
  const lateMs = receivedAt - dueAt;
  const found = [
    dueAt % PERIOD_MS !== 0 && `unexpected: ${id} is due in the middle of a second`,
    lateMs < -CLOCKS_MS && `early: ${id} was stored ${-lateMs} ms early`,
    state !== "done" && !mayWait && `lost: ${id} is ${state}`,
    times === 0 && !mayWait && `lost: ${id} was not answered`,
    times > 1 && `duplicated: ${id} was answered ${times} times`,
  ];
  return found.filter((violation) => violation !== false);
}

/** Finds missed ticks that were stored together with a later tick of the same gap. */
function findMadeUp(events: readonly OwnEvent[], lives: readonly Life[]): readonly OwnEvent[] {
  const latest = new Map<number, number>();
  for (const { receivedAt, dueAt } of events) {
    latest.set(receivedAt, Math.max(dueAt, latest.get(receivedAt) ?? dueAt));
  }
  return events.filter(
    ({ receivedAt, dueAt }) =>
      dueAt < (latest.get(receivedAt) ?? dueAt) &&
      lives.every(({ startedAt, to }) => dueAt < startedAt || dueAt > to),
  );
}

/** Lists the ticks that an instance owes: the last tick before it was ready, and all ticks while it was up. */
function momentsIn({ from, to }: Life): number[] {
  const moments: number[] = [];
  const start = Math.floor(from / PERIOD_MS) * PERIOD_MS;
  for (let moment = start; Math.max(moment, from) <= to - GRACE_MS; moment += PERIOD_MS) {
    moments.push(moment);
  }
  return moments;
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}

/**
 * Computes how late the replies to the bot's own events came, in ms after the due time. Downtime counts.
 *
 * @param name prefix of the figures' names
 */
export function latenessOf(
  name: string,
  events: readonly OwnEvent[],
  arrivals: readonly Arrival[],
): Record<string, number> {
  const arrived = new Map(arrivals.map(({ text, at }) => [text, at]));
  const late = events.map((event) => (arrived.get(answerOf(event)) ?? Number.NaN) - event.dueAt);
  const sorted = late.filter((ms) => !Number.isNaN(ms)).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN;
  return {
    [`${name} late, median (ms)`]: at(0.5),
    [`${name} late, p99 (ms)`]: at(0.99),
    [`${name} late, worst (ms)`]: at(1),
  };
}

function answerOf({ id, number }: OwnEvent): string {
  return number === undefined ? commentOn(id) : timerAnswers.due(number);
}
