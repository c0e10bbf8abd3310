import type { LogEvent } from "./event-log.ts";
import { checkNecessity } from "./necessity.ts";
import type { Life, RunRecord } from "./record.ts";
import { type Schedule, SILENCE_MS } from "./schedule.ts";

export interface Findings {
  readonly violations: string[];
  lost: number;
  flaps: number;
  /** Longest time from an overdue event to the switch to polling, as a multiple of the promised bound. */
  worstTakeover: number;
  worstTakeoverMs: number;
  takeovers: number;
  /** Most requests in any minute, as a fraction of the budget. 0 without a budget. */
  budgetUsed: number;
}

const REQUESTS_MS = 1_000;

/** Longest time a read of the log waits because handlers have used up the budget, in ms. */
const WAIT_MS = 62_000;

/**
 * Two reads of the current round, and five of the next round after the largest burst (four pages and the final read).
 */
const READS = 7;

function waitsMs({ perMinute }: Schedule): number {
  return perMinute === undefined ? 0 : READS * WAIT_MS;
}

/** Returns the promised time from when an event is overdue until polling starts, in ms. */
export function takeoverBoundMs(schedule: Schedule): number {
  return schedule.auditMs + 2 * schedule.pollMs + waitsMs(schedule);
}

export function check(record: RunRecord, schedule: Schedule): Findings {
  const findings: Findings = {
    violations: [],
    lost: 0,
    flaps: 0,
    worstTakeover: 0,
    worstTakeoverMs: 0,
    takeovers: 0,
    budgetUsed: 0,
  };
  checkLoss(record, findings);
  checkBudget(record, schedule, findings);
  if (schedule.delivery === "polling") checkPolling(record, schedule, findings);
  else {
    checkFlaps(record, findings);
    checkTakeover(record, schedule, findings);
    findings.violations.push(...checkNecessity(record, waitsMs(schedule)));
  }
  return findings;
}

function checkLoss(record: RunRecord, findings: Findings): void {
  const start = record.startSeq();
  for (const event of record.events) {
    if (event.seq <= start || !record.mayRead(event)) continue;
    if (record.inbox.events.has(event.id) || record.trimmedUnread.has(event.id)) continue;
    findings.lost += 1;
    findings.violations.push(`lost: ${about(event)}`);
  }
}

/** Number of event types that the webhook loses when its owner narrows the subscription. */
const TYPES_LOST = 2;

/** Something must have got worse between two switches to polling. */
function checkFlaps(record: RunRecord, findings: Findings): void {
  const causes = record.worse;
  const narrowed = causes.find(({ what }) => what === "narrowed");
  for (const life of record.lives) {
    // For each lost type, the poller has to miss one event, and another one after a restart.
    let allowed = narrowed === undefined ? 0 : TYPES_LOST;
    let last = Number.NEGATIVE_INFINITY;
    for (const { at, to, reason } of life.switches) {
      if (to === "auditing") continue;
      const caused = causes.some((cause) => cause.at > last && cause.at <= at);
      if (!caused) allowed -= 1;
      if (!caused && allowed < 0) {
        findings.flaps += 1;
        findings.violations.push(`flap: to polling at ${at}, last at ${last}: ${reason}`);
      }
      last = at;
    }
  }
}

function checkTakeover(record: RunRecord, schedule: Schedule, findings: Findings): void {
  const bound = takeoverBoundMs(schedule);
  for (const life of record.lives) {
    for (const event of record.events) {
      const overdueAt = Math.max(event.madeAt + SILENCE_MS, event.committedAt);
      const until = overdueAt + bound + REQUESTS_MS;
      if (!counts(record, life, event, until)) continue;
      const switched = life.switches.find(({ at, to }) => to === "polling" && at >= event.madeAt);
      const took = (switched?.at ?? Number.POSITIVE_INFINITY) - overdueAt;
      findings.takeovers += 1;
      if (took / bound > findings.worstTakeover) {
        findings.worstTakeover = took / bound;
        findings.worstTakeoverMs = took;
      }
      if (took > bound + REQUESTS_MS) {
        findings.violations.push(`late takeover: ${took} of ${bound} ms, ${about(event)}`);
      }
    }
  }
}

/** Checks DELIVERY=polling: the mode never changes, and each event is in the inbox by the next poll. */
function checkPolling(record: RunRecord, schedule: Schedule, findings: Findings): void {
  for (const life of record.lives) {
    const { switches } = life;
    if (switches.length > 0) findings.violations.push(`switched ${switches.length} times`);
    for (const event of record.events) {
      const { committedAt, madeAt } = event;
      // A late commit may be behind the head, where only an audit finds it.
      const wait = committedAt > madeAt ? schedule.auditMs : 0;
      const bound = schedule.pollMs + wait + waitsMs(schedule) + REQUESTS_MS;
      const from = Math.max(committedAt, life.from);
      if (from + bound >= life.to || !record.mayRead(event)) continue;
      if (record.trimmedUnread.has(event.id)) continue;
      if (event.seq <= record.startSeq() || isAway(record, life.from, from + bound)) continue;
      const took = (record.inbox.events.get(event.id)?.at ?? Number.POSITIVE_INFINITY) - from;
      if (took > bound) findings.violations.push(`polled late: ${took} ms, ${about(event)}`);
    }
  }
}

/** A new process starts with a fresh budget. */
function checkBudget(record: RunRecord, { perMinute }: Schedule, findings: Findings): void {
  if (perMinute === undefined) return;
  for (const { from, to } of record.lives) {
    const times = record.countedAt.filter((at) => at >= from && at <= to);
    let first = 0;
    times.forEach((at, index) => {
      while (at - (times[first] ?? at) >= 60_000) first += 1;
      const used = (index - first + 1) / perMinute;
      findings.budgetUsed = Math.max(findings.budgetUsed, used);
      if (used > 1) findings.violations.push(`over budget: ${used * perMinute} requests at ${at}`);
    });
  }
  if (record.unanswered.size > 0) {
    findings.violations.push(`starved: ${record.unanswered.size} events never got a reply`);
  }
}

function isAway({ apiAway }: RunRecord, from: number, to: number): boolean {
  return apiAway.some((away) => away.from <= to && away.to >= from);
}

/** Returns true if the promise holds for this event: it was missing, and the bot could have detected that. */
function counts(record: RunRecord, life: Life, event: LogEvent, until: number): boolean {
  const settled = life.from + SILENCE_MS;
  if (event.madeAt < settled || life.to <= until || !record.mayRead(event)) return false;
  if (event.seq <= record.startSeq() || !event.hasDate) return false;
  if ((record.broughtAt.get(event.id) ?? Number.POSITIVE_INFINITY) <= until) return false;
  if (isAway(record, event.madeAt - SILENCE_MS, until)) return false;
  return auditing(life, event.madeAt) && expected(record, life, event);
}

/** Returns false if polling had begun before the event was made. The event itself may have caused polling. */
function auditing(life: Life, madeAt: number): boolean {
  return life.switches.findLast(({ at }) => at <= madeAt)?.to !== "polling";
}

/** Returns true if the webhook has delivered the type since polling began and since the type was last missed. */
function expected(record: RunRecord, life: Life, { type, madeAt }: LogEvent): boolean {
  const polling = life.switches.findLast(({ at, to }) => to === "polling" && at <= madeAt)?.at ?? 0;
  const last = Math.max(polling, record.missedBefore(type, madeAt));
  const times = record.typeBroughtAt.get(type) ?? [];
  return times.some((at) => at > last && at < madeAt);
}

function about(event: LogEvent): string {
  return `event ${event.id} (${event.type}), made at ${event.madeAt}, committed at ${event.committedAt}`;
}
