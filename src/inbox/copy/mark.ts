import { ServiceBotError } from "../../errors.ts";

/**
 * What an inbox that takes part in a copy has in a table of its own, so that no bot takes half a copy for
 * the whole, and none runs again what its copy runs. An inbox that was never copied has no such table.
 */
export interface Mark {
  /** `target`: the copy into it is not finished. `source`: it was copied, or is being copied. */
  readonly role: "source" | "target";
  /** The place of the other inbox. */
  readonly other: string;
  /** Names the run of the copy: a later one takes over from it. */
  readonly run: string;
}

/** The table of the mark. */
export const MARK = "copy_mark";

/** Why a bot must not use an inbox with this mark. */
export function markError({ role, other }: Mark, place: string): ServiceBotError {
  return role === "target" ? unfinished(place, other) : moved(place, other);
}

function unfinished(place: string, other: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_UNFINISHED",
    `${place} is an unfinished copy of ${other}. Run the same "service-bot inbox copy" again; it begins ` +
      "anew. Or go on with the bot where it was: nothing is missing there.",
  );
}

export function moved(place: string, other: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_MOVED",
    `${place} was copied to ${other}, and a bot here would handle again what is handled there. Set ` +
      "DATABASE_URL to that one. If no bot has used it yet, " +
      `"service-bot inbox copy --reopen --from" with this one takes it back.`,
  );
}

/** Why nothing is copied to a place where there is something. */
export function notEmpty(place: string, remedy: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_NOT_EMPTY",
    `${place} has events or cursors already, and a copy would mix two inboxes. ${remedy}`,
  );
}

/** Two runs that write one target at once would each find rows of the other. */
export function overtaken(place: string): ServiceBotError {
  return new ServiceBotError(
    "INBOX_UNFINISHED",
    `Another copy to ${place} has begun meanwhile, and this one has given way to it.`,
  );
}
