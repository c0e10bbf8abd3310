import type { LogEvent } from "./event-log.ts";
import type { Life, RunRecord, Span } from "./record.ts";
import { SILENCE_MS } from "./schedule.ts";

/** In ms. The Date header has whole seconds only, and a request may be in flight. */
const TOLERANCE_MS = 2_000;

/** Time within which a working webhook delivers an event, in ms. */
const SOON_MS = 20_000;

/** In ms. Polling is needless once a webhook has worked this long and delivered at least three events. */
const FINE_MS = 5 * 60_000;

/** Checks that a missing event caused each switch to polling, and that polling ended once no event was missing. */
export function checkNecessity(record: RunRecord, waitsMs: number): string[] {
  // The two rounds before the switch back to the webhook may have to wait for their requests.
  const fineMs = FINE_MS + 2 * waitsMs;
  return record.lives.flatMap((life) => [
    ...falseAlarms(record, life),
    ...needlessPolling(record, life, fineMs),
  ]);
}

function falseAlarms(record: RunRecord, life: Life): string[] {
  return life.switches
    .filter(({ to }) => to === "polling")
    .filter(({ at, reason }) => {
      const isBehind = reason.includes("while the bot was offline")
        ? (event: LogEvent) => wasMissed(record, life, event, at)
        : (event: LogEvent) => isMissing(record, event, at);
      return !record.events.some(isBehind);
    })
    .map(({ at, reason }) => `false alarm at ${at}: ${reason}`);
}

/** Returns true if the event was made before the start and was missing in the first read after it. */
function wasMissed(record: RunRecord, life: Life, event: LogEvent, at: number): boolean {
  if (event.madeAt > life.from + TOLERANCE_MS || event.committedAt > at) return false;
  return (record.broughtAt.get(event.id) ?? Number.POSITIVE_INFINITY) > at - TOLERANCE_MS;
}

function isMissing(record: RunRecord, event: LogEvent, at: number): boolean {
  if (event.madeAt + SILENCE_MS > at + TOLERANCE_MS || event.committedAt > at) return false;
  return (record.broughtAt.get(event.id) ?? Number.POSITIVE_INFINITY) > at;
}

function needlessPolling(record: RunRecord, life: Life, fineMs: number): string[] {
  const found: string[] = [];
  life.switches.forEach(({ at, to }, index) => {
    if (to !== "polling") return;
    const until = Math.min(life.switches[index + 1]?.at ?? life.to, life.to);
    const since = fineSince(record, { from: at, to: until }, fineMs);
    if (since !== undefined) found.push(`needless polling from ${since}, begun at ${at}`);
  });
  return found;
}

/** Returns the time since when polling was needless, because the webhook was working. */
function fineSince(
  record: RunRecord,
  { from, to: until }: Readonly<Span>,
  fineMs: number,
): number | undefined {
  let run: LogEvent[] = [];
  for (const event of record.events) {
    if (event.madeAt < from) continue;
    const broughtAt = record.broughtAt.get(event.id) ?? Number.POSITIVE_INFINITY;
    if (broughtAt > until) break;
    run = broughtAt - event.madeAt < SOON_MS ? [...run, event] : [];
    const first = run[0]?.madeAt ?? broughtAt;
    const away = record.apiAway.some((span) => span.from < broughtAt && span.to > first);
    if (away) run = [];
    else if (run.length > 2 && broughtAt - first > fineMs) return first;
  }
  return undefined;
}
