import { printable } from "../../core/safe-text.ts";
import { messageOf } from "../../errors.ts";
import type { ActInput } from "../../platform/index.ts";
import { runWords } from "../../platform/timeline/words.ts";
import type { ActResult } from "../../platform/types.ts";
import { printableLines } from "../output.ts";
import { CommandError, UsageError } from "../usage.ts";
import { type Answer, type Awaited, isQuiet, type Reaction, type Run } from "./wait.ts";

/** Returns one line for each event, or one that says that there is none. */
export function eventLines({ type }: ActInput, result: ActResult): string {
  const { events, commentId, messageId, postId } = result;
  const made = commentId ?? messageId ?? postId ?? "";
  if (events.length === 0) return `${type} ${made}, no event: no bot is concerned`;
  return events.map((event) => printable(`${event.type} ${event.id}`)).join("\n");
}

/** Describes what the bot wrote. `undefined` if the bot has not even taken the event, or has failed. */
export function answerLines({ outcome, answers }: Reaction): string | undefined {
  if (answers.length > 0) return answers.map(answerLine).join("\n");
  return outcome === "handled" || outcome === "delivered"
    ? `${outcome}; the bot wrote nothing`
    : undefined;
}

function answerLine(answer: Answer): string {
  const name = printable(answer.bot ?? "bot");
  return `${name}: ${printableLines(answer.text || "(no text)", name.length + 2)}`;
}

/** Returns why a wait was in vain; `undefined` if it was not. */
export function failureOf(
  { act, result, timeoutMs }: Awaited,
  { outcome, answers, run, isUnfinished = false }: Reaction,
): CommandError | undefined {
  if (outcome === "answered" || outcome === "handled") return undefined;
  if (outcome === "failed") return run && handlerFailed(run);
  if (result.events.length === 0) {
    const message = "No bot is concerned, so there is no event and nothing to wait for.";
    return new CommandError(message, { code: "NO_EVENT" });
  }
  if (outcome === "delivered" && isQuiet(act.type) && !isUnfinished) return undefined;
  const within = `within ${timeoutMs / 1_000} s`;
  const message =
    outcome === "delivered" && isUnfinished
      ? `The bot has not handled the event ${within}. ${run ? words(run) : LOOK.unfinished}`
      : `${why(act, outcome, answers.length)} ${within}. ${LOOK[outcome]}`;
  return new CommandError(printable(message), { code: "NO_ANSWER" });
}

function handlerFailed(run: Run): CommandError {
  const message = printable(`The bot's handler failed. ${words(run)}`);
  return new CommandError(message, { code: "HANDLER_FAILED" });
}

function words(run: Run): string {
  return `${run.eventId} ${runWords(run)}`;
}

/** Hints at the reason. */
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
