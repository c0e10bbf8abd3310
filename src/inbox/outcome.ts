import { ServiceBotError } from "../errors.ts";
import type { EventState } from "./records.ts";

/** Why a decision was not carried out. */
export type Refusal = "not-found" | "not-dead" | "body-dropped" | "leased" | "ended";

/** By how many events the backlog has changed, or why nothing was done. */
export type Outcome = { readonly pending: -1 | 0 | 1 } | { readonly refused: Refusal };

export const NOT_FOUND: Outcome = { refused: "not-found" };

/** What an event is judged by. SQLite has 0 and 1. */
export interface Judged {
  readonly state: EventState;
  readonly has_body: boolean | number;
  /** Whether the lease of its last claim still runs; null where its lane is gone. */
  readonly leased: boolean | number | null;
}

/** What becomes of the wish to run an event again. */
export function judgeRetry({ state, has_body }: Judged): Outcome {
  if (state !== "dead") return { refused: "not-dead" };
  return has_body ? { pending: 1 } : { refused: "body-dropped" };
}

/** What becomes of the wish to discard an event. */
export function judgeDiscard({ state, leased }: Judged): Outcome {
  if (state !== "dead" && state !== "pending") return { refused: "ended" };
  if (state === "pending" && leased) return { refused: "leased" };
  return { pending: state === "pending" ? -1 : 0 };
}

/** The error for whoever decided about this one event. */
export function refusal(id: string, why: Refusal): ServiceBotError {
  const show = `See "service-bot inbox show" or bot.inbox.show().`;
  switch (why) {
    case "not-found":
      return new ServiceBotError(
        "EVENT_NOT_FOUND",
        `The inbox has no event "${id}". "service-bot inbox list" and bot.inbox.list() tell the ids.`,
      );
    case "not-dead":
      return new ServiceBotError(
        "EVENT_NOT_DEAD",
        `Event "${id}" is no dead letter, and only those can be retried. ${show}`,
      );
    case "body-dropped":
      return new ServiceBotError(
        "EVENT_BODY_DROPPED",
        `The content of event "${id}" was dropped, so it cannot run again. Discard it, with a reason.`,
      );
    case "leased":
      return new ServiceBotError(
        "EVENT_LEASED",
        `Event "${id}" is being handled right now. Try again once this run has ended.`,
      );
    case "ended":
      return new ServiceBotError(
        "EVENT_ENDED",
        `Event "${id}" is done or discarded already; there is nothing to discard. ${show}`,
      );
  }
}
