import { printable } from "../../core/terminal.ts";
import { messageOf } from "../../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDecisionOptions,
  InboxDiscardFilter,
  InboxRetryFilter,
} from "../../inbox/admin.ts";
import type { AttachedInbox } from "../../inbox/maintenance.ts";
import { print, printError, printJson } from "../output.ts";
import { grouped } from "../text.ts";
import { untilSignal } from "../until-signal.ts";
import { type Arguments, readArguments, textFlag, UsageError, wholeNumber } from "../usage.ts";
import { type Action, jsonFlag, nameOf } from "./action.ts";
import { dryRun } from "./dry-run.ts";
import { filterFlags, filterIn, isChosen, oneOf } from "./filter.ts";
import { progressOn } from "./progress.ts";

const flags = {
  ...filterFlags,
  ...jsonFlag,
  all: { type: "boolean" },
  limit: { type: "string" },
  "dry-run": { type: "boolean" },
} as const;

export const retry: Action = (args) => {
  const given = readArguments(args, { ...flags, assume: { type: "string" } }, { max: MANY });
  const target = targetOf(given);
  const assume = oneOf(given, "assume", ["done", "absent"]);
  return (inbox) =>
    decide(inbox, given, target, {
      state: "dead",
      verb: "retried",
      done: async (n) => `retried: ${n} ${nameOf("dead", n)}, ${await whenItRuns(inbox)}`,
      act: (admin, one, options) => admin.retry(one, { ...options, assume }),
    });
};

export const discard: Action = (args) => {
  const own = { reason: { type: "string" }, state: { type: "string" } } as const;
  const given = readArguments(args, { ...flags, ...own }, { max: MANY });
  const target = targetOf(given);
  const state = oneOf(given, "state", ["dead", "pending"]) ?? "dead";
  const reason = textFlag(given, "reason")?.trim() ?? "";
  if (reason === "") throw new UsageError("--reason is missing: say why, for whoever asks later.");
  if (target.ids.length > 0 && given.flags.state !== undefined) {
    throw new UsageError("--state goes with --all, --type or another filter, not with an id.");
  }
  return (inbox) =>
    decide(inbox, given, target, {
      state,
      verb: "discarded",
      done: (n) =>
        `discarded: ${n} ${target.ids.length > 0 ? (n === 1 ? "event" : "events") : nameOf(state, n)}`,
      act: (admin, one, options) =>
        admin.discard(typeof one === "string" ? one : { ...one, state }, reason, options),
    });
};

/** As many ids as a shell passes on. */
const MANY = 100_000;

/** So many can be asked for with --limit. */
const MOST = 1_000_000_000;

interface Target {
  /** Empty where a filter chooses. */
  readonly ids: readonly string[];
  readonly filter: InboxRetryFilter;
}

interface Decision {
  readonly state: "dead" | "pending";
  /** What becomes of them, in the past tense. */
  readonly verb: string;
  readonly done: (n: number) => string | Promise<string>;
  readonly act: (
    admin: InboxAdmin,
    target: string | InboxDiscardFilter,
    options: InboxDecisionOptions,
  ) => Promise<InboxChange>;
}

/** Events by id, or by filter; nothing at all must not mean everything. */
function targetOf(given: Arguments): Target {
  const limit = wholeNumber(given, "limit", { min: 1, max: MOST });
  const filter = filterIn(given);
  const chosen = isChosen(filter);
  const all = given.flags.all === true;
  const ids = given.words;
  if (ids.length > 0 && (chosen || all || limit !== undefined)) {
    throw new UsageError(
      "Name events by id, or choose them with --all, --type and other filters, not both.",
    );
  }
  if (ids.length === 0 && !chosen && !all) {
    throw new UsageError(
      "Name the events by id, or choose them with --type or another filter, or all with --all.",
    );
  }
  return { ids, filter: { ...filter, limit } };
}

async function decide(
  inbox: AttachedInbox,
  given: Arguments,
  target: Target,
  decision: Decision,
): Promise<number> {
  const { admin } = inbox;
  const { state, verb, done } = decision;
  const { json } = given.flags;
  if (given.flags["dry-run"] === true) {
    const { ids, filter } = target;
    const chosen = ids.length > 0 ? ids : await admin.targets({ ...filter, state });
    return await dryRun(admin, chosen, { ...decision, json: json === true });
  }
  const progress = progressOn(given.flags);
  const stopped = new AbortController();
  void untilSignal().then(() => stopped.abort());
  const { changed, skipped, left, failed } = await carryOut(admin, target, decision.act, {
    signal: stopped.signal,
    onProgress: ({ done, of }) => progress.show(verb, done, of),
  }).finally(progress.end);
  if (json) {
    printJson({ changed, skipped: skipped + failed.length, ...(left > 0 ? { left } : {}) });
  } else if (changed > 0) print(await done(changed));
  else if (failed.length + skipped + left === 0) print(`No ${nameOf(state, 2)} to choose from.`);
  if (skipped > 0 && !json) {
    print(
      `passed over: ${skipped}, which are being handled, have ended meanwhile or lost their content`,
    );
  }
  for (const error of failed) printError(printable(messageOf(error)));
  if (left > 0) {
    printError(`stopped: ${grouped(left)} left as they were; what is ${verb} stays so.`);
  }
  return failed.length > 0 || left > 0 ? 1 : 0;
}

interface Outcome {
  readonly changed: number;
  readonly skipped: number;
  readonly left: number;
  readonly failed: readonly unknown[];
}

async function carryOut(
  admin: InboxAdmin,
  { ids, filter }: Target,
  act: Decision["act"],
  options: InboxDecisionOptions,
): Promise<Outcome> {
  if (ids.length === 0) {
    const outcome = await act(admin, filter, options).catch((error: unknown) => ({ error }));
    if ("error" in outcome) return { changed: 0, skipped: 0, left: 0, failed: [outcome.error] };
    return { ...outcome, left: outcome.left ?? 0, failed: [] };
  }
  const failed: unknown[] = [];
  let tried = 0;
  while (tried < ids.length && options.signal?.aborted !== true) {
    const one = ids[tried] ?? "";
    await act(admin, one, {}).catch((error: unknown) => failed.push(error));
    tried += 1;
    options.onProgress?.({ done: tried, of: ids.length });
  }
  return { changed: tried - failed.length, skipped: 0, left: ids.length - tried, failed };
}

async function whenItRuns({ served }: AttachedInbox): Promise<string> {
  return (await served()) ? "the bot takes it from here" : "to run when the bot starts";
}
