import { printable } from "../../core/terminal.ts";
import { messageOf } from "../../errors.ts";
import { runWords } from "../../platform/timeline/words.ts";
import type { ActInput, ActResult } from "../../platform/types.ts";
import { printableLines } from "../text.ts";
import { CommandError, UsageError } from "../usage.ts";
import type { Awaited, Reaction } from "./reaction.ts";
import { type Answer, isQuiet, type Run } from "./watch.ts";

/** Returns one line for each event, or one that says that there is none. */
export function eventLines({ type }: ActInput, result: ActResult): string {
  const { events, commentId, messageId, postId } = result;
  const made = commentId ?? messageId ?? postId ?? "";
  if (events.length === 0) return `${type} ${made}, no event: no bot is concerned`;
  return events.map((event) => printable(`${event.type} ${event.id}`)).join("\n");
}

/** Describes what the bot wrote. `undefined` if it has not even taken the event, or has failed. */
export function answerLines({ outcome, answers }: Reaction): string | undefined {
  if (answers.length > 0) return answers.map(answerLine).join("\n");
  if (outcome === "handled") return "handled; the bot wrote nothing";
  return outcome === "delivered" ? "delivered; the bot wrote nothing" : undefined;
}

/** What `--wait --json` prints: the act, what came of it, and why that is a failure where it is one. */
export function asObject(
  result: ActResult,
  { outcome, answers, run }: Reaction,
  failure: CommandError | undefined,
): object {
  const [answer] = answers;
  const error = failure === undefined ? undefined : errorObject(failure);
  return { ...result, outcome, answer, answers, run, error };
}

/** Why a wait was in vain; undefined when it was not. */
export function failureOf(
  { act, result, timeoutMs }: Awaited,
  reaction: Reaction,
): CommandError | undefined {
  const { outcome, answers, run, isUnfinished = false } = reaction;
  if (outcome === "answered" || outcome === "handled") return undefined;
  if (outcome === "failed") return run && handlerFailed(run);
  if (outcome === "delivered" && isQuiet(act.type) && !isUnfinished) return undefined;
  if (result.events.length === 0) {
    const message = "No bot is concerned, so there is no event and nothing to wait for.";
    return new CommandError(message, { code: "NO_EVENT" });
  }
  const within = `within ${timeoutMs / 1_000} s`;
  const code = "NO_ANSWER";
  if (outcome === "delivered" && isUnfinished) {
    const reason = run === undefined ? LOOK.unfinished : `${run.eventId} ${runWords(run)}`;
    const message = `The bot has not handled the event ${within}. ${reason}`;
    return new CommandError(printable(message), { code });
  }
  return new CommandError(`${why(act, outcome, answers.length)} ${within}. ${LOOK[outcome]}`, {
    code,
  });
}

function handlerFailed(run: Run): CommandError {
  const message = `The bot's handler failed. ${run.eventId} ${runWords(run)}`;
  return new CommandError(printable(message), { code: "HANDLER_FAILED" });
}

/** Where to look for the reason. */
const LOOK = {
  unfinished: "Is its handler slow, or does it wait for an earlier event? See its log.",
  delivered: "Does it handle this type? See its log.",
  none: "Is it running, and is its webhook set, or does it poll?",
} as const;

function why({ count = 1 }: ActInput, outcome: "delivered" | "none", answers: number): string {
  if (answers > 0) return `The bot has answered ${answers} of ${count} times`;
  return outcome === "delivered"
    ? "The bot has taken the event and written nothing"
    : "The bot has not taken the event";
}

/** The `error` of what `--json` prints. */
export function errorObject(error: unknown): { readonly code: string; readonly message: string } {
  const message = messageOf(error);
  if (error instanceof UsageError) return { code: "USAGE", message };
  return { code: (error instanceof CommandError && error.code) || "FAILED", message };
}

function answerLine(answer: Answer): string {
  const name = printable(answer.bot ?? "bot");
  return `${name}: ${printableLines(answer.text || "(no text)", name.length + 2)}`;
}
