import { type Command, UsageError } from "../command.ts";
import { readDotEnv } from "../environment.ts";
import type { Action } from "./attach.ts";
import { backup, restore } from "./backup.ts";
import { copy } from "./copy.ts";
import { discard, retry } from "./decide.ts";
import { FILTER } from "./filter.ts";
import { list, show, stats } from "./read.ts";
import { state, timers } from "./states.ts";

/** Every action with its usage. A line break continues on the next line. */
const actions: Readonly<Record<string, readonly [Action, usage: string]>> = {
  stats: [stats, "[stats] [--json]"],
  list: [
    list,
    "list [--state dead|pending|done|discarded|all] [FILTER] [--limit 20] [--after NEXT] [--json]",
  ],
  show: [show, "show ID [--json]"],
  retry: [
    retry,
    "retry ID... | --all | FILTER  [--limit N] [--assume done|absent] [--dry-run] [--json]",
  ],
  discard: [
    discard,
    "discard ID... | --all | FILTER  [--state dead|pending] [--limit N] --reason TEXT\n     [--dry-run] [--json]",
  ],
  state: [
    state,
    "state [--prefix TEXT] [--limit 20] [--after NEXT] [--json] | KEY [--delete --yes] [--json]",
  ],
  timers: [
    timers,
    "timers [--lane LANE] [--name NAME] [--limit 20] [--after NEXT] [--json]\n     | --lane LANE --name NAME [--key KEY] --fire [--json]",
  ],
  copy: [copy, "copy [--from FILE] [--to URL] [--dry-run] [--reopen] [--json]"],
  backup: [backup, "backup FILE [--json]"],
  restore: [restore, "restore FILE | --in-place  [--move-old] [--ended TIME] [--json]"],
};

/** Removed actions and their replacements. */
const removed: Readonly<Record<string, string>> = {
  export:
    'Use "service-bot inbox list --state all --json", which prints events with everything about them.',
  import:
    'Use "service-bot inbox copy" for PostgreSQL, or "backup" and "restore" for another machine.',
};

const INDENT = " ".repeat(25);

export const inbox: Command = {
  summary:
    "what is in the bot's inbox: list, show, retry and discard dead letters, state and timers, also while it runs; copy into PostgreSQL, back up, restore",
  usage: usageOf(Object.values(actions).map(([, usage]) => usage)),
  run: async (args) => {
    const [name = "stats", ...rest] = args[0]?.startsWith("-") ? ["stats", ...args] : args;
    const [action, usage = ""] = (Object.hasOwn(actions, name) && actions[name]) || [];
    if (action === undefined) throw unknownAction(name);
    const work = read(action, rest, usageOf([usage]));
    readDotEnv();
    return await work();
  },
};

function usageOf(usages: readonly string[]): string {
  const text = `inbox ${usages.join("\n").replaceAll("\n", `\n${INDENT}`)}`;
  return text.includes("FILTER") ? `${text}\nFILTER: ${FILTER}` : text;
}

function unknownAction(name: string): UsageError {
  if (Object.hasOwn(removed, name))
    return new UsageError(`"${name}" was removed. ${removed[name]}`);
  return new UsageError(`"${name}" is none of ${Object.keys(actions).join(", ")}.`);
}

/** @throws {UsageError} with the usage of this action only */
function read(action: Action, args: readonly string[], usage: string): () => Promise<number> {
  try {
    return action(args);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}
