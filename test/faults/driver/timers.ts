import { commentOn, timerAnswers } from "../bot/behaviours.ts";
import { sum } from "../report.ts";
import { countTexts } from "./checker.ts";
import type { States } from "./counters.ts";

/** A message that sets a timer which is due within the run. Times in ms since 1970, spans in ms. */
export interface Reminder {
  readonly number: number;
  readonly delayMs: number;
  /** By the platform's clock. */
  readonly writtenAt: number;
}

/** An event that the bot made for itself, as the store has it. */
export interface OwnEvent {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  /** When the timer or the moment was due. */
  readonly dueAt: number;
  /** When the event was stored, by the store's clock. */
  readonly receivedAt: number;
  /** The number of the reminder; `undefined` for cron. */
  readonly number?: number | undefined;
}

/** An answer to an event of the bot's own. */
export interface Arrival {
  readonly text: string;
  /** By the platform's clock. */
  readonly at: number;
}

/** The time of one process. */
export interface Life {
  readonly startedAt: number;
  /** When it was ready. */
  readonly from: number;
  /** When it was killed. */
  readonly to: number;
}

/** In ms. A process keeps the clock that it began with, while the machine's is corrected. */
const CLOCKS_MS = 50;

/** Checks that each timer fired once and none early, by the store's clock and by the platform's. */
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
      at < due - CLOCKS_MS && `early: the answer of timer ${number} came ${due - at} ms early`,
    ];
    return found.filter((violation) => violation !== false);
  });
  const invented = [...fired.keys()].filter((number) => !known.has(number));
  return [...wrong, ...invented.map((number) => `unexpected: timer ${number} has fired`)];
}

/** Checks that the timers which are not due within the run wait, and no others. */
export function checkWaiting(far: Iterable<number>, timers: readonly string[]): string[] {
  const waiting = new Set(timers);
  const due = new Set(Array.from(far, String));
  return [
    ...[...due]
      .filter((key) => !waiting.has(key))
      .map((key) => `lost: timer ${key} does not wait any longer`),
    ...[...waiting]
      .filter((key) => !due.has(key))
      .map((key) => `unexpected: timer ${key} still waits`),
  ];
}

/** Checks that the states of all conversations count each timer that fired. */
export function checkFired(count: number, states: States): string[] {
  const fired = sum([...states.values()].map((state) => state.fired));
  return fired === count ? [] : [`miscounted: the states count ${fired} timers, not ${count}`];
}

/** In ms. A cron of every second. */
const PERIOD_MS = 1_000;

/** In ms. An instance that is up has stored a due moment by then, and answered it, even on a busy machine. */
const GRACE_MS = 2_000;

/** Findings about a cron of every second. */
export interface Moments {
  readonly violations: readonly string[];
  /** Moments at which an instance was up, or which were the last ones missed. */
  readonly owed: number;
  /** Moments that passed while no instance was up. */
  readonly missed: number;
}

/**
 * Checks a cron of every second with `missed: "last"`: each moment at which an instance was up is one event with one
 * answer, and of the moments in a gap only the last one is.
 *
 * @param stoppedAt when the last instance was told to stop
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
    ...(present.size === 0 ? ["lost: no moment has fired"] : []),
    ...[...owed].filter((moment) => !present.has(moment)).map((moment) => `lost: ${iso(moment)}`),
    ...events.flatMap((event) => checkMoment(event, said, stoppedAt)),
    ...findMadeUp(events, lives).map(
      ({ id }) => `unexpected: ${id} was missed, and not the last one`,
    ),
    ...[...said.keys()].filter((text) => !known.has(text)).map((text) => `unexpected: "${text}"`),
    ...(present.size === events.length ? [] : ["duplicated: a moment has two events"]),
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
  // The last moments may wait for the next start.
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

/** Finds moments without any process that were stored together with a later one. Only the last one may be. */
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

/** Lists the moments that an instance owes: the last one before it was ready, and those while it was up. */
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
 * How late the answers to own events came, in ms after they were due. The time without an instance counts.
 *
 * @param name of the figures
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
