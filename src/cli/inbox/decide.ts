import { printable } from "../../core/safe-text.ts";
import { messageOf } from "../../errors.ts";
import type {
  InboxAdmin,
  InboxChange,
  InboxDecisionFilter,
  InboxDecisionOptions,
  InboxProgress,
} from "../../inbox/admin.ts";
import type { EventDetails } from "../../inbox/event-records.ts";
import type { AttachedInbox } from "../../inbox/sql/attached.ts";
import {
  type Arguments,
  type Flags,
  oneOf,
  readArguments,
  UsageError,
  untilSignal,
  wholeNumber,
} from "../command.ts";
import { grouped, print, printError, printJson, progressOn } from "../output.ts";
import { type Action, withInbox } from "./attach.ts";
import { filterFlags, filterIn, isChosen, nameOf } from "./filter.ts";
import { eventTable, findEvent } from "./list.ts";

const decisionFlags = {
  ...filterFlags,
  json: { type: "boolean" },
  all: { type: "boolean" },
  state: { type: "string" },
  limit: { type: "string" },
  "dry-run": { type: "boolean" },
} as const;

/** Maximum number of ids in one command. The shell's own limit is lower. */
const MAX_IDS = 100_000;

const MAX_LIMIT = 1_000_000_000;

/** Maximum number of rows printed by a dry run. `--json` prints all ids. */
const MAX_SHOWN = 20;

export const retry: Action = (args) => {
  const flags = { ...decisionFlags, assume: { type: "string" } } as const;
  const given = readArguments(args, flags, { max: MAX_IDS });
  const target = targetOf(given);
  const assume = oneOf(given.flags.assume, "assume", ["done", "absent"]);
  if (assume !== undefined && target.state === "pending") {
    throw new UsageError(
      "--assume is for dead letters, and cannot be combined with --state pending.",
    );
  }
  return carryOut(given.flags, target, {
    verb: "retried",
    decide: (admin, events, options) => admin.retry(events, { ...options, assume }),
  });
};

export const discard: Action = (args) => {
  const flags = { ...decisionFlags, reason: { type: "string" } } as const;
  const given = readArguments(args, flags, { max: MAX_IDS });
  const target = targetOf(given);
  const reason = given.flags.reason?.trim() ?? "";
  if (reason === "")
    throw new UsageError("Give a reason with --reason TEXT. It is stored with the event.");
  return carryOut(given.flags, target, {
    verb: "discarded",
    decide: (admin, events, options) => admin.discard(events, reason, options),
  });
};

/** Events to decide about. */
interface Target {
  /** Empty if the filter selects the events. */
  readonly ids: readonly string[];
  readonly filter: InboxDecisionFilter;
  readonly state: "dead" | "pending";
}

interface Decision {
  readonly verb: "retried" | "discarded";
  readonly decide: (
    admin: InboxAdmin,
    events: string | InboxDecisionFilter,
    options?: InboxDecisionOptions,
  ) => Promise<InboxChange>;
}

/** Requires ids or a filter, so that a command without arguments does not affect every event. */
function targetOf({ flags, words: ids }: Arguments<typeof decisionFlags>): Target {
  const state = oneOf(flags.state, "state", ["dead", "pending"]);
  const limit = wholeNumber(flags.limit, "limit", { min: 1, max: MAX_LIMIT });
  const filter = filterIn(flags);
  const isFiltered = isChosen(filter) || flags.all === true;
  if (ids.length === 0 && !isFiltered) {
    throw new UsageError(
      "Name events by id, or select them with --type or another filter, or --all.",
    );
  }
  if (ids.length > 0 && state !== undefined) {
    throw new UsageError("--state needs --all or a filter, and cannot be combined with an id.");
  }
  if (ids.length > 0 && (isFiltered || limit !== undefined)) {
    throw new UsageError("Name events by id or select them with --all or filters, but not both.");
  }
  return { ids, filter: { ...filter, limit, state }, state: state ?? "dead" };
}

function carryOut(
  { json = false, "dry-run": isDryRun }: Flags<typeof decisionFlags>,
  target: Target,
  decision: Decision,
): () => Promise<number> {
  return () =>
    withInbox(async (inbox) => {
      if (isDryRun) {
        await preview(inbox.admin, target, decision.verb, json);
        return 0;
      }
      const outcome = await decideAbout(inbox.admin, target, decision, json);
      if (json) {
        const { changed, skipped, left, errors } = outcome;
        printJson({ changed, skipped: skipped + errors.length, ...(left > 0 ? { left } : {}) });
      } else await printOutcome(outcome, target, decision.verb, inbox);
      return report(outcome);
    });
}

interface Outcome {
  readonly changed: number;
  readonly skipped: number;
  /** Number of events not processed, because the command was stopped. */
  readonly left: number;
  readonly errors: readonly unknown[];
}

/** Stops at a signal, and shows the progress. */
async function decideAbout(
  admin: InboxAdmin,
  { ids, filter }: Target,
  { verb, decide }: Decision,
  json: boolean,
): Promise<Outcome> {
  const stopped = new AbortController();
  void untilSignal().then(() => stopped.abort());
  const progress = progressOn({ json });
  const options = {
    signal: stopped.signal,
    onProgress: ({ done, of }: InboxProgress) => progress.show(verb, done, of),
  };
  try {
    return ids.length > 0
      ? await decideById(ids, (id) => decide(admin, id), options)
      : await decideByFilter(() => decide(admin, filter, options));
  } finally {
    progress.end();
  }
}

async function decideById(
  ids: readonly string[],
  decide: (id: string) => Promise<InboxChange>,
  { signal, onProgress }: Required<InboxDecisionOptions>,
): Promise<Outcome> {
  const errors: unknown[] = [];
  let done = 0;
  for (const id of ids) {
    if (signal?.aborted) break;
    await decide(id).catch((error: unknown) => errors.push(error));
    done += 1;
    onProgress?.({ done, of: ids.length });
  }
  return { changed: done - errors.length, skipped: 0, left: ids.length - done, errors };
}

async function decideByFilter(decide: () => Promise<InboxChange>): Promise<Outcome> {
  try {
    const { changed, skipped, left = 0 } = await decide();
    return { changed, skipped, left, errors: [] };
  } catch (error) {
    return { changed: 0, skipped: 0, left: 0, errors: [error] };
  }
}

async function printOutcome(
  { changed, skipped, left, errors }: Outcome,
  target: Target,
  verb: Decision["verb"],
  { served }: AttachedInbox,
): Promise<void> {
  if (changed > 0) {
    const when = verb === "retried" ? `, ${handlingText(changed, await served())}` : "";
    print(`${verb}: ${changed} ${nounOf(target, changed)}${when}`);
  } else if (errors.length + skipped + left === 0) print(nothingText(target));
  if (skipped > 0) print(`skipped: ${skipped} (being handled, already ended, or without content)`);
}

/** Prints the problems, and returns the exit code. */
function report({ left, errors }: Outcome): number {
  for (const error of errors) printError(printable(messageOf(error)));
  if (left > 0) {
    printError(`Stopped. ${grouped(left)} left unchanged. Run the command again to continue.`);
  }
  return errors.length > 0 || left > 0 ? 1 : 0;
}

/** Events named by id may have different states. */
function nounOf({ ids, state }: Target, n: number): string {
  if (ids.length === 0) return nameOf(state, n);
  return n === 1 ? "event" : "events";
}

function handlingText(n: number, isServed: boolean): string {
  return `the bot handles ${n === 1 ? "it" : "them"} ${isServed ? "now" : "when it starts"}`;
}

function nothingText({ state }: Target): string {
  return `No matching ${nameOf(state, 2)}.`;
}

/** Prints what a decision would change. */
async function preview(
  admin: InboxAdmin,
  target: Target,
  verb: Decision["verb"],
  json: boolean,
): Promise<void> {
  const ids = target.ids.length > 0 ? target.ids : await admin.targets(target.filter);
  const n = ids.length;
  if (json) return printJson({ dryRun: true, chosen: n, ids });
  if (n === 0) return print(nothingText(target));
  const events: EventDetails[] = [];
  for (const id of ids.slice(0, MAX_SHOWN)) {
    const event = await findEvent(admin, id);
    if (event !== undefined) events.push(event);
  }
  print(eventTable(events));
  if (n > MAX_SHOWN) print(`and ${grouped(n - MAX_SHOWN)} more`);
  print(`\nwould be ${verb}: ${grouped(n)} ${nameOf(target.state, n)}; nothing was changed`);
}
