import { duration } from "../../parts/duration.ts";
import type { BotStatus } from "./bot-status.ts";

/** What brings the events in each mode, for people. */
export function modeText(mode: string): string {
  const known: Readonly<Record<string, string>> = {
    webhook: "the webhook brings the events; the log is never read (DELIVERY=webhook)",
    auditing: "the webhook brings the events; the log is read now and then, to find what was lost",
    polling: "the log brings the events",
  };
  return known[mode] ?? "a mode that this page does not know";
}

/** Events that wait for longer than this are worth a word, in milliseconds. */
const OLD_MS = 60_000;

/** What is worth a look, each with its remedy (docs/operating.md, "what is worth an alarm"). */
export function warningsOf(status: BotStatus): readonly string[] {
  const { ready, mode, log, inbox, requests, instances } = status;
  const deadLetters = inbox?.deadLetters ?? 0;
  const oldest = inbox?.oldestPendingAgeMs ?? 0;
  const found: readonly (string | false)[] = [
    !ready &&
      "It is not ready: it starts, stops, or its database does not answer. Its log says which.",
    mode === "polling" &&
      "It polls: unless DELIVERY=polling was chosen, mend the webhook, and it goes back by itself.",
    inbox === null && "Its inbox does not answer: look at the database that DATABASE_URL names.",
    log?.lastPollError != null &&
      `The last read of the log failed with ${log.lastPollError}. With 401 or 403 the token is refused: see State.`,
    deadLetters > 0 &&
      `${deadLetters} given up: npx service-bot inbox lists them, with what to do about each.`,
    oldest > OLD_MS &&
      `The oldest event has waited for ${duration(oldest)}: its handlers are slow, or wait for something.`,
    requests !== null &&
      requests.left === 0 &&
      "The budget of requests is used up: events wait for the next minute (MAX_REQUESTS_PER_MINUTE).",
    instances !== null &&
      mode !== "webhook" &&
      instances.reader === null &&
      "No instance reads the log: one takes over within half a minute.",
  ];
  return found.filter((each) => each !== false);
}
