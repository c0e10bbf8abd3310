import { behaviourOf, counts, groupOf } from "../bot/behaviours.ts";
import type { Counters } from "../bot/state-and-time.ts";
import { countTexts, type Written } from "./checker.ts";

export type States = ReadonlyMap<string, Counters>;

/**
 * Compares the counters in the store with the messages that increment them. Each message counts once in its
 * conversation's state. A `tally` message also counts once in its group's state.
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

/** Returns the state key of a conversation, which is its lane. */
export function laneKey(conversationId: string): string {
  return `dm:${conversationId}`;
}
