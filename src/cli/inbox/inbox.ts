import { readDotEnv } from "../dot-env.ts";
import { type Command, UsageError } from "../usage.ts";
import type { Action } from "./action.ts";
import { attach } from "./attach.ts";
import { backup } from "./backup.ts";
import { copy } from "./copy.ts";
import { discard, retry } from "./decide.ts";
import { FILTER } from "./filter.ts";
import { list } from "./list.ts";
import { restore } from "./restore.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";
import { usageOf } from "./usage-of.ts";

const actions: Readonly<Record<string, Action>> = {
  ...{ stats, list, show, retry, discard },
};

/** Actions of earlier versions, with what to use instead. */
const removed: Readonly<Record<string, string>> = {
  export:
    'Use "service-bot inbox list --state all --json", which prints events with everything about them.',
  import:
    'Use "service-bot inbox copy" for PostgreSQL, or "backup" and "restore" for another machine.',
};

/** These read their arguments first, too. */
const ofWhole: Readonly<Record<string, (args: readonly string[]) => () => Promise<number>>> = {
  copy,
  backup,
  restore,
};

export const inbox: Command = {
  summary:
    "what is in the bot's inbox: list, show, retry and discard dead letters, also while it runs; copy into PostgreSQL, back up, restore",
  usage:
    "inbox [stats] [--json]\n" +
    "                         list [--state dead|pending|done|discarded|all] [FILTER] [--limit 20] [--after NEXT] [--json]\n" +
    "                         show ID [--json]\n" +
    "                         retry ID... | --all | FILTER  [--limit N] [--assume done|absent] [--dry-run] [--json]\n" +
    "                         discard ID... | --all | FILTER  [--state dead|pending] [--limit N] --reason TEXT\n" +
    "                              [--dry-run] [--json]\n" +
    "                         copy [--from URL] [--to URL] [--dry-run] [--reopen] [--json]\n" +
    "                         backup FILE [--json]\n" +
    "                         restore FILE | --in-place  [--move-old] [--ended TIME] [--assume-absent] [--json]\n" +
    `FILTER: ${FILTER}`,
  run: async (args) => {
    const [name = "stats", ...rest] = args[0]?.startsWith("-") ? ["stats", ...args] : args;
    const whole = Object.hasOwn(ofWhole, name) ? ofWhole[name] : undefined;
    if (whole !== undefined) return await wholeCommand(read(name, () => whole(rest)));
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      const remedy = Object.hasOwn(removed, name) ? removed[name] : undefined;
      if (remedy !== undefined) throw new UsageError(`"${name}" was removed. ${remedy}`);
      throw new UsageError(
        `"${name}" is none of ${[...Object.keys(actions), ...Object.keys(ofWhole)].join(", ")}.`,
      );
    }
    const work = read(name, () => action(rest));
    readDotEnv();
    const attached = await attach();
    try {
      return await work(attached);
    } finally {
      await attached.close();
    }
  },
};

/** @throws {UsageError} that tells how this action is called, not all of them */
function read<T>(name: string, args: () => T): T {
  try {
    return args();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(error.message, usageOf(inbox.usage, name));
  }
}

/** What is done with the inbox as a whole opens it in a way of its own. */
async function wholeCommand(work: () => Promise<number>): Promise<number> {
  readDotEnv();
  return await work();
}
