import { printable } from "../../core/safe-text.ts";
import { hasCode } from "../../errors.ts";
import {
  type EventDetails,
  type EventState,
  type EventSummary,
  eventStates,
  type InboxAdmin,
  type InboxListOptions,
  type InboxReport,
  type StepRecord,
} from "../../inbox/admin.ts";
import type { InstanceReport, SharedReport } from "../../inbox/shared.ts";
import { oneOf, ownCommand, readArguments, UsageError, wholeNumber } from "../command.ts";
import {
  age,
  bytes,
  count,
  cut,
  grouped,
  moment,
  print,
  printableLines,
  printJson,
  quoted,
  table,
} from "../output.ts";
import { type Action, withInbox } from "./attach.ts";
import { filterArguments, filterFlags, filterIn, nameOf } from "./filter.ts";

const flags = {
  ...filterFlags,
  json: { type: "boolean" },
  state: { type: "string" },
  limit: { type: "string" },
  after: { type: "string" },
} as const;

export const list: Action = (args) => {
  const { flags: given } = readArguments(args, flags, { max: 0 });
  const state = oneOf(given.state, "state", [...eventStates, "all"]) ?? "dead";
  const options: InboxListOptions = {
    ...filterIn(given),
    state: state === "all" ? undefined : state,
    limit: wholeNumber(given.limit, "limit", { min: 1, max: 1_000 }) ?? 20,
    after: given.after,
  };
  return () =>
    withInbox(async ({ admin }) => {
      const { events, next } = await admin.list(options);
      if (given.json) {
        const whole = await Promise.all(
          events.map(async (event) => (await findEvent(admin, event.id)) ?? event),
        );
        printJson({ events: whole, next });
        return 0;
      }
      const [first] = events;
      print(first === undefined ? nothing(options) : eventTable(events));
      if (next !== undefined) print(`\nmore: ${nextPage(options, next)}`);
      if (given.state !== undefined) return 0;
      // Without --state, the user may not know that there are other states.
      if (first !== undefined) print(`\n${hints(first)}`);
      print(`\n${otherStates(await admin.stats())}`);
      return 0;
    });
};

export async function findEvent(admin: InboxAdmin, id: string): Promise<EventDetails | undefined> {
  try {
    return await admin.show(id);
  } catch (error) {
    if (hasCode(error, "EVENT_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** If all events have the same state, the header names their time. */
export function eventTable(events: readonly EventSummary[]): string {
  const now = Date.now();
  const [first] = events;
  const isMixed = events.some(({ state }) => state !== first?.state);
  const rows = events.map((event) => [
    printable(event.id),
    printable(event.type),
    printable(event.lane),
    ...(isMixed ? [event.state] : []),
    String(event.attempts),
    age(event.endedAt ?? event.receivedAt, now),
    event.leased ? "running now" : cut(event.discardReason ?? event.error ?? "", 80),
  ]);
  const why = first?.state === "discarded" && !isMixed ? "REASON" : "ERROR";
  const when = isMixed || first === undefined ? "SINCE" : timeHeads[first.state];
  const head = ["ID", "TYPE", "LANE", ...(isMixed ? ["STATE"] : []), "ATTEMPTS", when, why];
  return table(head, rows);
}

const timeHeads: Readonly<Record<EventState, string>> = {
  pending: "RECEIVED",
  done: "DONE",
  dead: "DIED",
  discarded: "DISCARDED",
};

function hints({ id }: EventSummary): string {
  const word = quoted(id);
  return [
    "# an event's content, runs and remedies",
    `${ownCommand()} inbox show ${word}`,
    "# run an event again",
    `${ownCommand()} inbox retry ${word}`,
  ].join("\n");
}

function otherStates({ pending, done, discarded }: InboxReport): string {
  const parts = Object.entries({ pending, done, discarded });
  const counts = parts.map(([state, n]) => `${grouped(n)} ${state}`).join(", ");
  return `also in the inbox: ${counts} (--state pending|done|discarded|all)`;
}

function nothing({ state, limit, after, ...filter }: InboxListOptions): string {
  if (after !== undefined) return "No more events.";
  const flags = filterArguments(filter);
  return `No ${state === undefined ? "events" : nameOf(state, 2)}${flags === "" ? "" : ` for${flags}`}.`;
}

function nextPage({ state, limit, after, ...filter }: InboxListOptions, next: string): string {
  const words = `--state ${state ?? "all"}${filterArguments(filter)} --limit ${limit} --after ${next}`;
  return `${ownCommand()} inbox list ${words}`;
}

export const show: Action = (args) => {
  const { flags, words } = readArguments(args, { json: { type: "boolean" } }, { max: 1 });
  const [id] = words;
  if (id === undefined) throw new UsageError("Name the event by its id.");
  return () =>
    withInbox(async ({ admin }) => {
      const event = await admin.show(id);
      if (flags.json) printJson(event);
      else print(showEvent(event, Date.now()));
      return 0;
    });
};

function showEvent(event: EventDetails, now: number): string {
  const parts = [
    facts(event, now),
    `event\n${content(event.body)}`,
    event.history.length > 0 ? `failed runs\n${history(event, now)}` : "",
    event.steps.length > 0 ? `steps\n${steps(event, now)}` : "",
    remedies(event),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

const stateNames = {
  pending: "pending",
  done: "done",
  dead: "dead letter",
  discarded: "discarded",
} as const;

function facts(event: EventDetails, now: number): string {
  const { id, type, state, endedAt } = event;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["lane", event.lane],
    ["source", event.source],
    ["trace", event.trace],
    ["received", moment(event.receivedAt, now)],
    [state === "dead" ? "died" : state, endedAt === undefined ? undefined : moment(endedAt, now)],
    ["attempts", String(event.attempts)],
    ["error", event.error],
    ["reason", event.discardReason],
  ];
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(10)} ${printableLines(value, 13)}`],
  );
  const what = event.leased ? "pending, running now" : stateNames[state];
  return [`${printable(id)}  ${printable(type)}  ${what}`, ...lines].join("\n");
}

function content(body: string | undefined): string {
  return body === undefined ? "  (deleted)" : `  ${printableLines(pretty(body), 2)}`;
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function history({ history }: EventDetails, now: number): string {
  const rows = history.map(({ number, outcome, error, endedAt }) => [
    String(number),
    outcome,
    age(endedAt, now),
    cut(error ?? (outcome === "crashed" ? "the process ended during the run" : ""), 100),
  ]);
  return table(["#", "OUTCOME", "ENDED", "ERROR"], rows).replace(/^/gm, "  ");
}

function steps({ steps }: EventDetails, now: number): string {
  const rows = steps.map((step) => [
    printable(step.name),
    step.state,
    age(step.startedAt, now),
    cut(step.request, 50),
    cut(resultOf(step), 50),
  ]);
  return table(["NAME", "STATE", "BEGAN", "REQUEST", "RESULT"], rows).replace(/^/gm, "  ");
}

function resultOf({ state, result, ref }: StepRecord): string {
  if (ref !== undefined) return ref;
  return state === "open" ? "unknown" : (result ?? "set by hand");
}

function remedies(event: EventDetails): string {
  if (event.leased) return "remedies\n  none: a handler is running now";
  const discard = `${ownCommand()} inbox discard ${quoted(event.id)} --reason "..."`;
  if (event.state === "pending") {
    return `remedies\n  The bot handles the event once its lane is free and its wait is over.\n  ${discard}`;
  }
  if (event.state !== "dead") return "";
  const open = event.steps.filter(({ state }) => state === "open");
  const commands = commandsFor(event, open, discard);
  // Shells ignore comments, so both lines can be pasted.
  const lines = commands.flatMap(([command, why]) => [`  # ${why}`, `  ${command}`]);
  return ["remedies", ...openNote(open), ...lines].join("\n");
}

function commandsFor(
  { id, body }: EventDetails,
  open: readonly StepRecord[],
  discard: string,
): readonly (readonly [command: string, why: string])[] {
  if (body === undefined) return [[discard, "deletes the content, so the event cannot run again"]];
  const steps = open.length === 1 ? "step" : "steps";
  const retry = `${ownCommand()} inbox retry ${quoted(id)}`;
  if (open.length === 0) {
    return [
      [retry, "run the event again, starting at attempt 1"],
      [discard, "never run the event again"],
    ];
  }
  return [
    [`${retry} --assume done`, `the ${steps} took effect, so skip`],
    [`${retry} --assume absent`, `the ${steps} had no effect, so run again`],
    ...(open.every(isOwnStep) ? [] : [[retry, "search for the effect, then decide"] as const]),
    [discard, "never run the event again"],
  ];
}

/** Returns whether a step belongs to the handler. The bot cannot search for the effect of such a step. */
function isOwnStep({ name }: StepRecord): boolean {
  return /^(?:catch\/)?step\//.test(name);
}

function openNote(open: readonly StepRecord[]): string[] {
  if (open.length === 0) return [];
  const list = open.map(({ name }) => `"${printable(name)}"`).join(", ");
  return [
    `  Unknown result of ${count(open.length, "step")}: ${list}.`,
    "  Check whether each step took effect, then run one of:",
  ];
}

export const stats: Action = (args) => {
  const { flags } = readArguments(args, { json: { type: "boolean" } }, { max: 0 });
  return () =>
    withInbox(async ({ admin, served, together }) => {
      const report = await admin.stats();
      const running = await served();
      const shared = await together?.();
      if (flags.json) printJson({ ...report, running, ...shared });
      else {
        print(statsText(report, running));
        if (shared !== undefined) print(`\n${instancesText(shared)}`);
      }
      return 0;
    });
};

function statsText(report: InboxReport, running: boolean): string {
  const { pending, done, dead, discarded, oldestPendingAt, deadByType } = report;
  const oldest = oldestPendingAt === undefined ? "" : `oldest ${age(oldestPendingAt, Date.now())}`;
  const rows = [
    ["pending", pending, oldest],
    ["dead", dead, listed(deadByType)],
    ["done", done, ""],
    ["discarded", discarded, ""],
  ] as const;
  const width = Math.max(...rows.map(([, n]) => grouped(n).length));
  const lines = rows.map(([name, n, more]) =>
    `${name.padEnd(9)}  ${grouped(n).padStart(width)}  ${more}`.trimEnd(),
  );
  const bot = running ? "the bot is running" : "the bot is not running";
  const hint = dead > 0 ? `\n\n${ownCommand()} inbox list   lists the dead letters` : "";
  return `${lines.join("\n")}\n\n${details(report)}\n\n${bot}${hint}`;
}

function details(report: InboxReport): string {
  const { pending, dead, pendingByType, deadByError, lanes, storage } = report;
  const { ready, waiting, leased, blocked } = lanes;
  const held = blocked === 0 ? "" : `, ${grouped(blocked)} of them blocking later events`;
  const wal = storage.walBytes === undefined ? "" : `, WAL ${bytes(storage.walBytes)}`;
  const laneWords = `${grouped(ready)} ready, ${grouped(leased)} being handled, ${grouped(waiting)} waiting for a retry${held}`;
  const rows = [
    ["pending by type", pending > 0 ? listed(pendingByType) : ""],
    ["lanes", pending > 0 ? laneWords : ""],
    ["dead by error", dead > 0 ? listed(deadByError) : ""],
    ["size", `${bytes(storage.bytes)}${wal}`],
  ] as const;
  return rows
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.padEnd(15)}  ${text}`)
    .join("\n");
}

/** Maximum number of types in a line. `--json` prints all types. */
const MAX_KINDS = 8;

function listed(counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).map(([name, n]) => `${cut(name, 60)} ${grouped(n)}`);
  return all.length <= MAX_KINDS ? all.join(", ") : `${all.slice(0, MAX_KINDS).join(", ")}, …`;
}

export function instancesText({ instances, poller, endedLastMinute }: SharedReport): string {
  const handled = `${count(endedLastMinute, "event")} ended in the last minute`;
  if (instances.length === 0) return handled;
  const rows = instances.map((instance) => rowOf(instance, poller));
  const term = poller?.holder === undefined ? "no instance reads the event log" : termText(poller);
  const head = ["INSTANCE", "HOST", "PID", "VERSION", "STARTED", "EVENT LOG"];
  return [table(head, rows), "", term, handled].join("\n");
}

function rowOf(
  { id, host, pid, version, startedMsAgo }: InstanceReport,
  poller: SharedReport["poller"],
): string[] {
  const started = age(0, startedMsAgo);
  const reads = poller?.holder === id ? "reads it" : "";
  return [id.slice(0, 8), printable(host), String(pid), printable(version), started, reads];
}

function termText({ term, expiresInMs }: NonNullable<SharedReport["poller"]>): string {
  return `leader of the event log: term ${term}, lease expires in ${Math.ceil(expiresInMs / 1_000)} s unless renewed`;
}
