import type { DeliveryEntry, TimelineEntry } from "../../../types.ts";

export interface Outcome {
  readonly tone: "good" | "bad" | "plain";
  readonly text: string;
}

/** What became of an event at the webhook, by the newest delivery that held it; undefined before there is one. */
export function outcomeOf(
  entries: readonly TimelineEntry[],
  eventId: string,
  bot: string,
): Outcome | undefined {
  const last = entries.findLast((entry): entry is TimelineEntry & DeliveryEntry => {
    return entry.kind === "delivery" && entry.bot === bot && entry.eventIds.includes(eventId);
  });
  if (last === undefined) return undefined;
  const { status, ms, attempt, error } = last;
  const tries = attempt > 1 ? `, attempt ${attempt}` : "";
  if (error === undefined)
    return { tone: "good", text: `delivered: ${status} in ${ms} ms${tries}` };
  return { tone: "bad", text: `failed${tries}: ${error}` };
}
