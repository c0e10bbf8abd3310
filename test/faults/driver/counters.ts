import { behaviourOf, counts, groupOf } from "../bot/behaviours.ts";
import type { Counters } from "../bot/state-and-time.ts";
import { countTexts, type Written } from "./checker.ts";

export type States = ReadonlyMap<string, Counters>;

/**
 * Compares the stored counters with the messages that increment them. Each message is counted once in its
 * conversation's state, and a `tally` message also once in its group's state.
 */
export function checkCounters(written: readonly Written[], states: States): string[] {
  const counted = written.filter(({ text }) => counts(behaviourOf(text)));
  const tallies = counted.filter(({ text }) => behaviourOf(text) === "tally");
  const due = countTexts([
    ...counted.map(({ lane }) => laneKey(lane)),
    ...tallies.map(({ text }) => groupOf(text)),
  ]);
  return [...new Set([...due.keys(), ...states.keys()])].flatMap((key) => {
    const [wanted, actual] = [due.get(key) ?? 0, states.get(key)?.count ?? 0];
    if (wanted === actual) return [];
    return [`miscounted: the state of ${key} counts ${actual} messages, not ${wanted}`];
  });
}

function laneKey(conversationId: string): string {
  return `dm:${conversationId}`;
}
