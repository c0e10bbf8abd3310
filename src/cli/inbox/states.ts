import { printable } from "../../core/safe-text.ts";
import type { InboxAdmin, StateListOptions, TimerListOptions } from "../../inbox/admin.ts";
import type { StoredState, TimerName } from "../../inbox/effects.ts";
import {
  CommandError,
  type Flags,
  ownCommand,
  readArguments,
  UsageError,
  wholeNumber,
} from "../command.ts";
import {
  bytes,
  moment,
  print,
  printableLines,
  printJson,
  quoted,
  table,
  timeFormat,
} from "../output.ts";
import { type Action, withInbox } from "./attach.ts";
import { timeFlags } from "./filter.ts";

const page = {
  ...timeFlags,
  limit: { type: "string" },
  after: { type: "string" },
} as const;

const stateFlags = {
  ...page,
  prefix: { type: "string" },
  delete: { type: "boolean" },
  yes: { type: "boolean" },
} as const;

export const state: Action = (args) => {
  const { flags, words } = readArguments(args, stateFlags, { max: 1 });
  const [key] = words;
  if (key === undefined) {
    if (flags.delete || flags.yes) throw new UsageError("Name the key of the state to delete.");
    const options = { prefix: flags.prefix, ...pageIn(flags) };
    return () => withInbox(({ admin }) => listStates(admin, options, flags));
  }
  if ([flags.prefix, flags.limit, flags.after].some((flag) => flag !== undefined)) {
    throw new UsageError("--prefix, --limit and --after cannot be combined with a key.");
  }
  if (flags.delete !== flags.yes) {
    throw new UsageError("--delete removes the state permanently. Add --yes to confirm.");
  }
  const act = flags.delete ? deleteState : showState;
  return () => withInbox(({ admin }) => act(admin, key, flags));
};

type OutputFlags = Flags<typeof timeFlags>;

function pageIn({ limit, after }: Flags<typeof page>) {
  return { limit: wholeNumber(limit, "limit", { min: 1, max: 1_000 }) ?? 20, after };
}

async function listStates(
  admin: InboxAdmin,
  options: StateListOptions,
  flags: OutputFlags,
): Promise<number> {
  const { states, next } = await admin.states(options);
  if (flags.json) {
    printJson({ states, next }, flags);
    return 0;
  }
  const { past } = timeFormat(flags);
  const rows = states.map((one) => [
    printable(one.key),
    bytes(one.bytes),
    past(one.updatedAt),
    printable(one.version),
  ]);
  print(
    rows.length === 0 ? nothing("states", options) : table(["KEY", "SIZE", "WRITTEN", "BY"], rows),
  );
  if (next !== undefined)
    print(`\nmore: ${ownCommand()} inbox state${flagsOf({ ...options, after: next })}`);
  return 0;
}

async function showState(admin: InboxAdmin, key: string, flags: OutputFlags): Promise<number> {
  const found = await admin.state(key);
  if (found === undefined) throw missing(key);
  if (flags.json) printJson({ ...found, value: JSON.parse(found.value) }, flags);
  else print(stateText(found, Date.now()));
  return 0;
}

function stateText({ key, value, version, updatedAt }: StoredState, now: number): string {
  const lines = printableLines(JSON.stringify(JSON.parse(value), null, 2), 2);
  const remove = `${ownCommand()} inbox state ${quoted(key)} --delete --yes`;
  return [
    `${printable(key)}  written ${moment(updatedAt, now)} by ${printable(version)}`,
    `  ${lines}`,
    `${remove}   deletes it; the next run starts with the default`,
  ].join("\n\n");
}

async function deleteState(admin: InboxAdmin, key: string, { json }: OutputFlags): Promise<number> {
  const deleted = await admin.deleteState(key);
  if (!deleted) throw missing(key);
  if (json) printJson({ deleted: 1 });
  else print(`deleted: the state ${printable(key)}`);
  return 0;
}

function missing(key: string): CommandError {
  return new CommandError(
    `There is no state ${quoted(key)}. Run \`${ownCommand()} inbox state\` to list the keys.`,
  );
}

const timerFlags = {
  ...page,
  lane: { type: "string" },
  name: { type: "string" },
  key: { type: "string" },
  fire: { type: "boolean" },
} as const;

export const timers: Action = (args) => {
  const { flags } = readArguments(args, timerFlags, { max: 0 });
  const { lane, name, key, fire } = flags;
  if (fire) {
    if (lane === undefined || name === undefined) {
      throw new UsageError("--fire needs --lane and --name, and --key for a single timer.");
    }
    const chosen = { lane, name, key };
    return () => withInbox(({ admin }) => fireTimers(admin, chosen, flags.json === true));
  }
  if (key !== undefined) throw new UsageError("--key needs --fire.");
  const options: TimerListOptions = { lane, name, ...pageIn(flags) };
  return () =>
    withInbox(async ({ admin }) => {
      const { timers, next } = await admin.timers(options);
      if (flags.json) {
        printJson({ timers, next }, flags);
        return 0;
      }
      const rows = timers.map(({ name, key, lane, dueAt }) => [
        new Date(dueAt).toISOString(),
        ...[name, key, lane].map(printable),
      ]);
      print(
        rows.length === 0
          ? nothing("timers", options)
          : table(["DUE", "NAME", "KEY", "LANE"], rows),
      );
      if (next !== undefined) {
        print(`\nmore: ${ownCommand()} inbox timers${flagsOf({ ...options, after: next })}`);
      }
      return 0;
    });
};

async function fireTimers(admin: InboxAdmin, timer: TimerName, json: boolean): Promise<number> {
  const fired = await admin.makeTimersDue(timer);
  if (fired === 0) {
    throw new CommandError(
      `There is no such timer. Run \`${ownCommand()} inbox timers\` to list all timers.`,
    );
  }
  if (json) printJson({ fired });
  else
    print(
      `due now: ${fired}. A running bot fires them within 15 s; otherwise the bot fires them on startup.`,
    );
  return 0;
}

function nothing(
  what: string,
  { limit, after, ...filter }: StateListOptions & TimerListOptions,
): string {
  if (after !== undefined) return `No more ${what}.`;
  const flags = flagsOf(filter);
  return `No ${what}${flags === "" ? "" : ` for${flags}`}.`;
}

function flagsOf(flags: Readonly<Record<string, string | number | undefined>>): string {
  return Object.entries(flags)
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${quoted(String(value))}`))
    .join("");
}
