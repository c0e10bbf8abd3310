import { messageOf } from "../../errors.ts";
import type { InboxAdmin, InboxChange, InboxFilter } from "../../inbox/admin.ts";
import type { AttachedInbox } from "../../inbox/attached.ts";
import { print, printError, printJson } from "../output.ts";
import { type Arguments, readArguments, textFlag, UsageError } from "../usage.ts";
import { type Action, filterFlags, jsonFlag, nameOf } from "./action.ts";

const flags = {
  ...filterFlags,
  ...jsonFlag,
  all: { type: "boolean" },
} as const;

export const retry: Action = (args) => {
  const given = readArguments(args, { ...flags, assume: { type: "string" } }, { max: MANY });
  const target = targetOf(given);
  const assume = oneOf(given, "assume", ["done", "absent"]);
  return (inbox) =>
    decide(inbox, given, target, {
      state: "dead",
      done: async (n) => `retried: ${n} ${nameOf("dead", n)}, ${await whenItRuns(inbox)}`,
      act: (admin, one) => admin.retry(one, { assume }),
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
    throw new UsageError("--state goes with --all, --type or --lane, not with an id.");
  }
  return (inbox) =>
    decide(inbox, given, target, {
      state,
      done: (n) =>
        `discarded: ${n} ${target.ids.length > 0 ? (n === 1 ? "event" : "events") : nameOf(state, n)}`,
      act: (admin, one) => admin.discard(typeof one === "string" ? one : { ...one, state }, reason),
    });
};

/** As many ids as a shell passes on. */
const MANY = 100_000;

interface Target {
  /** Empty where a filter chooses. */
  readonly ids: readonly string[];
  readonly filter: InboxFilter;
}

interface Decision {
  readonly state: "dead" | "pending";
  readonly done: (n: number) => string | Promise<string>;
  readonly act: (admin: InboxAdmin, target: string | InboxFilter) => Promise<InboxChange>;
}

/** Events by id, or by filter; nothing at all must not mean everything. */
function targetOf(given: Arguments): Target {
  const filter = { type: textFlag(given, "type"), lane: textFlag(given, "lane") };
  const chosen = filter.type !== undefined || filter.lane !== undefined;
  const all = given.flags.all === true;
  const ids = given.words;
  if (ids.length > 0 && (chosen || all)) {
    throw new UsageError(
      "Name events by id, or choose them with --all, --type and --lane, not both.",
    );
  }
  if (ids.length === 0 && !chosen && !all) {
    throw new UsageError(
      "Name the events by id, or choose them with --type or --lane, or all with --all.",
    );
  }
  return { ids, filter };
}

async function decide(
  inbox: AttachedInbox,
  given: Arguments,
  { ids, filter }: Target,
  { state, done, act }: Decision,
): Promise<number> {
  const targets = ids.length > 0 ? ids : [filter];
  let changed = 0;
  let skipped = 0;
  const failed: unknown[] = [];
  for (const target of targets) {
    try {
      const result = await act(inbox.admin, target);
      changed += result.changed;
      skipped += result.skipped;
    } catch (error) {
      failed.push(error);
    }
  }
  if (given.flags.json) printJson({ changed, skipped: skipped + failed.length });
  else if (changed > 0) print(await done(changed));
  else if (failed.length === 0 && skipped === 0) print(`No ${nameOf(state, 2)} to choose from.`);
  if (skipped > 0 && !given.flags.json) {
    print(
      `passed over: ${skipped}, which are being handled, have ended meanwhile or lost their content`,
    );
  }
  for (const error of failed) printError(messageOf(error));
  return failed.length > 0 ? 1 : 0;
}

async function whenItRuns({ served }: AttachedInbox): Promise<string> {
  return (await served()) ? "the bot takes it from here" : "to run when the bot starts";
}

function oneOf<const T extends string>(
  given: Arguments,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = textFlag(given, name);
  const value = values.find((known) => known === text);
  if (text !== undefined && value === undefined) {
    throw new UsageError(`--${name} takes ${values.join(" or ")} (got "${text}").`);
  }
  return value;
}
