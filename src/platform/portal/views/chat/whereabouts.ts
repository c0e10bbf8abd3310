import { statusWords } from "../../../timeline/words.ts";
import type { DeliveryEntry, TimelineEntry } from "../../../types.ts";
import type { Tone } from "../../parts/bits.tsx";

/** Where the event of a message is that has no answer yet. */
export interface Whereabouts {
  readonly tone: Tone;
  readonly text: string;
  readonly eventId: string;
}

/**
 * What became of the last message that somebody wrote in a conversation.
 *
 * @param entries the timeline, oldest first
 */
export function whereaboutsOf(
  entries: readonly TimelineEntry[],
  { conversationId, from }: { readonly conversationId: string; readonly from: string },
): Whereabouts | undefined {
  const at = entries.findLastIndex(
    (entry) =>
      entry.kind === "event" && entry.conversationId === conversationId && entry.from === from,
  );
  const event = entries[at];
  if (event?.kind !== "event") return undefined;
  const { id, bot, lateMs } = event;
  for (const entry of entries.slice(at + 1).reverse()) {
    const told = tell(entry, { id, bot, conversationId });
    if (told !== undefined) return { ...told, eventId: id };
  }
  const held = lateMs === undefined ? "" : `, held back for ${lateMs} ms`;
  return { tone: "plain", text: `waiting to be delivered${held}`, eventId: id };
}

type Told = Omit<Whereabouts, "eventId">;

function tell(
  entry: TimelineEntry,
  { id, bot, conversationId }: { id: string; bot: string; conversationId: string },
): Told | undefined {
  switch (entry.kind) {
    case "delivery":
      return entry.eventIds.includes(id) ? delivered(entry) : undefined;
    case "api":
      if (entry.eventIds?.includes(id) === true) {
        return { tone: "plain", text: "read by the bot, which polls" };
      }
      // What the bot answered did not arrive.
      return entry.method === "POST" &&
        entry.path === `/dm/conversations/${conversationId}/messages` &&
        (entry.status === null || entry.status >= 400)
        ? { tone: "bad", text: `the bot's answer failed ${statusWords(entry.status)}` }
        : undefined;
    case "webhook":
      return entry.change === "disabled" && entry.bot === bot
        ? { tone: "warn", text: "the webhook is off: the bot has to poll" }
        : undefined;
    default:
      return undefined;
  }
}

function delivered({ status, ms, attempt, error, forced }: DeliveryEntry): Told {
  if (error === undefined) {
    return { tone: "good", text: `delivered ${statusWords(status)} ${ms} ms, attempt ${attempt}` };
  }
  const next = forced ? "" : ", to be retried";
  return { tone: "bad", text: `failed ${statusWords(status)} attempt ${attempt}${next}` };
}
