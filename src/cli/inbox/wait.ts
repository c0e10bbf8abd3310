import { printable } from "../../core/safe-text.ts";
import type { EventRun, EventWait, SkipReason, WaitReason } from "../../inbox/event-records.ts";
import { cut, type TimeFormat } from "../output.ts";

const reasons: Readonly<Record<WaitReason, string>> = {
  ready: "a free place",
  lane: "an earlier event of its lane",
  retry: "a retry",
  postponed: "a retry that the handler postponed",
  loop_guard: "the loop guard, because the bot replies to the account too often",
  platform: "the platform, which is down or asked for a pause",
  token: "the platform, which rejects the token or the app",
  quota: "the platform, because a quota is used up",
  budget: "the request budget (MAX_REQUESTS_PER_MINUTE)",
  conflict: "a retry, because another run changed its state",
  store: "a retry, because the inbox could not be written",
  crash: "a retry, because the process ended during its last run",
  restore: "the event log, which is read first after the restore",
};

/** Reasons whose error says more. */
const withError: ReadonlySet<WaitReason> = new Set(["retry", "postponed", "platform", "token"]);

/** Maximum length of an error in a table, in characters. */
const MAX_ERROR = 80;

/** @param isServed false if no bot has the inbox open */
export function waitText(wait: EventWait, isServed: boolean): string {
  const { reason, behind, error } = wait;
  if (!isServed && reason === "ready") return "the bot, which is not running";
  if (behind !== undefined) return `${reasons.lane}: ${printable(behind)}`;
  const why = withError.has(reason) && error !== undefined ? `: ${cut(error, MAX_ERROR)}` : "";
  return reasons[reason] + why;
}

export function runText({ startedAt, step, instance }: EventRun, { past }: TimeFormat): string {
  const since = startedAt === undefined ? "" : `, began ${past(startedAt)}`;
  const at = step === undefined ? "" : `, at the step "${printable(step)}"`;
  const where = instance === undefined ? "" : `, on instance ${printable(instance).slice(0, 8)}`;
  return `running now${since}${at}${where}`;
}

/** Explains why an event is done although no handler ran. */
export const skipTexts: Readonly<Record<SkipReason, string>> = {
  own_account: "the bot itself caused the event",
  no_handler: "no handler is registered for this event",
};
