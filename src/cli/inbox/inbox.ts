import { loadDatabase } from "../../config.ts";
import type { AttachedInbox } from "../../inbox/attached.ts";
import { readDotEnv } from "../dot-env.ts";
import { type Command, UsageError } from "../usage.ts";
import type { Action } from "./action.ts";
import { backup } from "./backup.ts";
import { copy } from "./copy.ts";
import { discard, retry } from "./decide.ts";
import { list } from "./list.ts";
import { restore } from "./restore.ts";
import { show } from "./show.ts";
import { stats } from "./stats.ts";

const actions: Readonly<Record<string, Action>> = { stats, list, show, retry, discard };

/** These read their arguments first, too. */
const ofWhole: Readonly<Record<string, (args: readonly string[]) => () => Promise<number>>> = {
  copy,
  backup,
  restore,
};

export const inbox: Command = {
  summary:
    "what is in the bot's inbox: list, show, retry and discard dead letters, also while it runs; copy it, back it up",
  usage:
    "inbox [stats] [--json]\n" +
    "                         list [--state dead|pending|done|discarded|all] [--type TYPE] [--lane LANE]\n" +
    "                              [--limit 20] [--after NEXT] [--json]\n" +
    "                         show ID [--json]\n" +
    "                         retry ID... | --all | [--type TYPE] [--lane LANE]  [--assume done|absent] [--json]\n" +
    "                         discard ID... | --all | [--type TYPE] [--lane LANE]  [--state dead|pending]\n" +
    "                              --reason TEXT [--json]\n" +
    "                         copy [--from URL] [--to URL] [--dry-run] [--reopen] [--json]\n" +
    "                         backup FILE [--json]\n" +
    "                         restore FILE | --in-place  [--move-old] [--ended TIME] [--assume-absent] [--json]",
  run: async (args) => {
    const [name = "stats", ...rest] = args[0]?.startsWith("-") ? ["stats", ...args] : args;
    const whole = Object.hasOwn(ofWhole, name) ? ofWhole[name] : undefined;
    if (whole !== undefined) return await wholeCommand(whole(rest));
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      throw new UsageError(
        `"${name}" is none of ${[...Object.keys(actions), ...Object.keys(ofWhole)].join(", ")}.`,
      );
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

/** What is done with the inbox as a whole opens it in a way of its own. */
async function wholeCommand(work: () => Promise<number>): Promise<number> {
  readDotEnv();
  return await work();
}

/** The stores are loaded late: the other commands need none. */
async function attach(): Promise<AttachedInbox> {
  const { database, databaseSchema: schema } = loadDatabase(process.env);
  if (database.kind === "postgres") {
    const { attachPostgres } = await import("../../inbox/postgres/attach.ts");
    return await attachPostgres({ url: database.url, schema });
  }
  const { attachInbox } = await import("../../inbox/sqlite/attach.ts");
  return attachInbox(database.file);
}
