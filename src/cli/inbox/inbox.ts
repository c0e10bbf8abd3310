import { readDotEnv } from "../dot-env.ts";
import { type Command, UsageError } from "../usage.ts";
import type { Action } from "./action.ts";
import { attach } from "./attach.ts";
import { copy } from "./copy.ts";
import { discard, retry } from "./decide.ts";
import { exportEvents } from "./export.ts";
import { FILTER } from "./filter.ts";
import { importEvents } from "./import.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";

const actions: Readonly<Record<string, Action>> = {
  ...{ stats, list, show, retry, discard },
  export: exportEvents,
  import: importEvents,
};

export const inbox: Command = {
  summary:
    "what is in the bot's inbox: list, show, retry and discard dead letters, also while it runs; export, import, copy",
  usage:
    "inbox [stats] [--json]\n" +
    "                         list [--state dead|pending|done|discarded|all] [FILTER] [--limit 20] [--after NEXT] [--json]\n" +
    "                         show ID [--json]\n" +
    "                         retry ID... | --all | FILTER  [--limit N] [--assume done|absent] [--dry-run] [--json]\n" +
    "                         discard ID... | --all | FILTER  [--state dead|pending] [--limit N] --reason TEXT\n" +
    "                              [--dry-run] [--json]\n" +
    "                         export [--state all|dead|pending|done|discarded] [FILTER] [--out FILE [--json]]\n" +
    "                         import FILE [--as as-is|pending] [--dry-run] [--json]\n" +
    "                         copy [--from URL] [--to URL] [--dry-run] [--reopen] [--json]\n" +
    `FILTER: ${FILTER}`,
  run: async (args) => {
    const [name = "stats", ...rest] = args[0]?.startsWith("-") ? ["stats", ...args] : args;
    if (name === "copy") return await copyCommand(rest);
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      throw new UsageError(`"${name}" is none of ${Object.keys(actions).join(", ")}, copy.`);
    }
    const work = action(rest);
    readDotEnv();
    const attached = await attach();
    try {
      return await work(attached);
    } finally {
      await attached.close();
    }
  },
};

/** Of two inboxes, and of none that a bot uses: nothing is attached to. */
async function copyCommand(args: readonly string[]): Promise<number> {
  const work = copy(args);
  readDotEnv();
  return await work();
}
