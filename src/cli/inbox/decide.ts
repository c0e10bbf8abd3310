import { printable } from "../../core/safe-text.ts";
import { messageOf } from "../../errors.ts";
import type {
  AttachedInbox,
  EventDetails,
  InboxAdmin,
  InboxChange,
  InboxDecisionFilter,
  InboxDecisionOptions,
} from "../../inbox/admin.ts";
import {
  type Arguments,
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
  return decide(given, target, {
    verb: "retried",
    act: (admin, one, options) => admin.retry(one, { ...options, assume }),
  });
};

export const discard: Action = (args) => {
  const own = { reason: { type: "string" } } as const;
  const given = readArguments(args, { ...decisionFlags, ...own }, { max: MAX_IDS });
  const target = targetOf(given);
  const reason = given.flags.reason?.trim() ?? "";
  if (reason === "")
    throw new UsageError("Give a reason with --reason TEXT. It is stored with the event.");
  return decide(given, target, {
    verb: "discarded",
    act: (admin, one, options) => admin.discard(one, reason, options),
  });
};

type DecisionArguments = Arguments<typeof decisionFlags>;

interface Target {
  readonly ids: readonly string[];
  readonly filter: InboxDecisionFilter;
  readonly state: "dead" | "pending";
}

interface Decision {
  readonly verb: "retried" | "discarded";
  readonly act: (
    admin: InboxAdmin,
    target: string | InboxDecisionFilter,
    options: InboxDecisionOptions,
  ) => Promise<InboxChange>;
}

/** Requires ids or a filter, so that a command without arguments does not affect every event. */
function targetOf({ flags, words: ids }: DecisionArguments): Target {
  const state = oneOf(flags.state, "state", ["dead", "pending"]);
  if (ids.length > 0 && state !== undefined) {
    throw new UsageError("--state needs --all or a filter, and cannot be combined with an id.");
  }
  const limit = wholeNumber(flags.limit, "limit", { min: 1, max: MAX_LIMIT });
  const filter = filterIn(flags);
  const isFiltered = isChosen(filter) || flags.all === true;
  if (ids.length > 0 && (isFiltered || limit !== undefined)) {
    throw new UsageError("Name events by id or select them with --all or filters, but not both.");
  }
  if (ids.length === 0 && !isFiltered) {
    throw new UsageError(
      "Name events by id, or select them with --type or another filter, or --all.",
    );
  }
  return { ids, filter: { ...filter, limit, state }, state: state ?? "dead" };
}

function decide(
  { flags }: DecisionArguments,
  target: Target,
  decision: Decision,
): () => Promise<number> {
  const json = flags.json === true;
  return () =>
    withInbox((inbox) =>
      flags["dry-run"] === true
        ? dryRun(inbox.admin, target, decision.verb, json)
        : carryOut(inbox, target, decision, json),
    );
}

async function carryOut(
  inbox: AttachedInbox,
  target: Target,
  { verb, act }: Decision,
  json: boolean,
): Promise<number> {
  const progress = progressOn({ json });
  const stopped = new AbortController();
  void untilSignal().then(() => stopped.abort());
  const { changed, skipped, left, failed } = await actOn(inbox.admin, target, act, {
    signal: stopped.signal,
    onProgress: ({ done, of }) => progress.show(verb, done, of),
  }).finally(progress.end);
  if (json) {
    printJson({ changed, skipped: skipped + failed.length, ...(left > 0 ? { left } : {}) });
  } else {
    if (changed > 0) print(await doneText(inbox, target, verb, changed));
    else if (failed.length + skipped + left === 0) print(nothingText(target));
    if (skipped > 0) {
      print(`skipped: ${skipped} (being handled, already ended, or without content)`);
    }
  }
  for (const error of failed) printError(printable(messageOf(error)));
  if (left > 0) {
    printError(`Stopped. ${grouped(left)} left unchanged. Run the command again to continue.`);
  }
  return failed.length > 0 || left > 0 ? 1 : 0;
}

async function doneText(
  { served }: AttachedInbox,
  { ids, state }: Target,
  verb: Decision["verb"],
  n: number,
): Promise<string> {
  // Events named by id may have different states.
  const noun = ids.length === 0 ? nameOf(state, n) : n === 1 ? "event" : "events";
  if (verb === "discarded") return `discarded: ${n} ${noun}`;
  const them = n === 1 ? "it" : "them";
  const when = `the bot handles ${them} ${(await served()) ? "now" : "when it starts"}`;
  return `retried: ${n} ${noun}, ${when}`;
}

function nothingText({ state }: Target): string {
  return `No matching ${nameOf(state, 2)}.`;
}

interface DecisionCounts {
  readonly changed: number;
  readonly skipped: number;
  readonly left: number;
  readonly failed: readonly unknown[];
}

async function actOn(
  admin: InboxAdmin,
  { ids, filter }: Target,
  act: Decision["act"],
  options: InboxDecisionOptions,
): Promise<DecisionCounts> {
  const failed: unknown[] = [];
  if (ids.length === 0) {
    const none = { changed: 0, skipped: 0 };
    const outcome = await act(admin, filter, options).catch((error: unknown) => {
      failed.push(error);
    });
    return { ...(outcome ?? none), left: outcome?.left ?? 0, failed };
  }
  let tried = 0;
  while (tried < ids.length && options.signal?.aborted !== true) {
    await act(admin, ids[tried] ?? "", {}).catch((error: unknown) => failed.push(error));
    tried += 1;
    options.onProgress?.({ done: tried, of: ids.length });
  }
  return { changed: tried - failed.length, skipped: 0, left: ids.length - tried, failed };
}

async function dryRun(
  admin: InboxAdmin,
  target: Target,
  verb: Decision["verb"],
  json: boolean,
): Promise<number> {
  const ids = target.ids.length > 0 ? target.ids : await admin.targets(target.filter);
  const n = ids.length;
  if (json) printJson({ dryRun: true, chosen: n, ids });
  else if (n === 0) print(nothingText(target));
  else {
    const events: EventDetails[] = [];
    for (const id of ids.slice(0, MAX_SHOWN)) {
      const event = await findEvent(admin, id);
      if (event !== undefined) events.push(event);
    }
    print(eventTable(events));
    if (n > MAX_SHOWN) print(`and ${grouped(n - MAX_SHOWN)} more`);
    print(`\nwould be ${verb}: ${grouped(n)} ${nameOf(target.state, n)}; nothing was changed`);
  }
  return 0;
}
