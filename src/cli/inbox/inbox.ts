import { maxOf } from "../../core/extremes.ts";
import { fill } from "../../core/fill.ts";
import { type Command, UsageError } from "../command.ts";
import { readDotEnv } from "../environment.ts";
import type { Action } from "./attach.ts";
import { backup, restore } from "./backup.ts";
import { copy } from "./copy.ts";
import { discard, retry } from "./decide.ts";
import { FILTER } from "./filter.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";
import { state, timers } from "./states.ts";
import { stats } from "./stats.ts";

const actions: Readonly<Record<string, readonly [Action, usage: string]>> = {
  stats: [stats, "[--json] [--utc]"],
  list: [
    list,
    "[--state dead|pending|done|discarded|all] [FILTER] [--limit 20] [--after NEXT] [--json] [--utc]",
  ],
  show: [show, "ID [--json] [--utc]"],
  retry: [
    retry,
    "ID... | --all | FILTER [--state dead|pending] [--limit N] [--assume done|absent] [--dry-run] [--json]",
  ],
  discard: [
    discard,
    "ID... | --all | FILTER --reason TEXT [--state dead|pending] [--limit N] [--dry-run] [--json]",
  ],
  state: [
    state,
    "[--prefix TEXT] [--limit 20] [--after NEXT] [--json] [--utc] | KEY [--delete --yes] [--json] [--utc]",
  ],
  timers: [
    timers,
    "[--lane LANE] [--name NAME] [--limit 20] [--after NEXT] [--json] [--utc] | --lane LANE --name NAME [--key KEY] --fire [--json]",
  ],
  copy: [copy, "[--from FILE] [--to URL] [--dry-run] [--reopen] [--json]"],
  backup: [backup, "FILE [--json]"],
  restore: [restore, "FILE | --in-place [--move-old] [--ended TIME] [--json]"],
};

const removed: Readonly<Record<string, string>> = {
  export: "Use `npx service-bot inbox list --state all --json`.",
  import: "Use `npx service-bot inbox copy`, or `backup` and `restore`.",
};

export const inbox: Command = {
  summary:
    "Shows the bot's inbox; retries and discards events; copies, backs up and restores the inbox",
  usage: "inbox [ACTION] [flags]",
  details: [actionList(), fill("FILTER:  ", FILTER), "Without an action, `stats` runs."].join(
    "\n\n",
  ),
  run: async (args) => {
    const [name = "stats", ...rest] = args[0]?.startsWith("-") ? ["stats", ...args] : args;
    const [action] = (Object.hasOwn(actions, name) && actions[name]) || [];
    if (action === undefined) throw unknownAction(name);
    const work = action(rest);
    readDotEnv();
    return await work();
  },
};

function actionList(): string {
  const width = maxOf(Object.keys(actions).map((name) => name.length));
  return Object.entries(actions)
    .map(([name, [, usage]]) => fill(`  ${name.padEnd(width)}  `, usage))
    .join("\n");
}

function unknownAction(name: string): UsageError {
  if (Object.hasOwn(removed, name))
    return new UsageError(`"${name}" was removed. ${removed[name]}`);
  return UsageError.unknown("action", name, Object.keys(actions));
}
