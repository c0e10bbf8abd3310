import { printable } from "../../core/safe-text.ts";
import { hasCode } from "../../errors.ts";
import type { InboxAdmin, InboxListOptions, InboxPage, InboxReport } from "../../inbox/admin.ts";
import {
  type EventDetails,
  type EventState,
  type EventSummary,
  eventStates,
} from "../../inbox/event-records.ts";
import { oneOf, ownCommand, readArguments, wholeNumber } from "../command.ts";
import {
  cut,
  grouped,
  print,
  printJson,
  quoted,
  type TimeFormat,
  table,
  timeFormat,
} from "../output.ts";
import { type Action, withInbox } from "./attach.ts";
import { filterArguments, filterFlags, filterIn, nameOf, timeFlags } from "./filter.ts";
import { runText, skipTexts, waitText } from "./wait.ts";

const flags = {
  ...filterFlags,
  ...timeFlags,
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
    withInbox(async ({ admin, reports, served }) => {
      const { events, next } = await fullPage(admin, options);
      if (given.json) {
        const whole = await Promise.all(
          events.map(async (event) => (await findEvent(admin, event.id)) ?? event),
        );
        printJson({ events: whole, next }, given);
        return 0;
      }
      const [first] = events;
      const shown = { time: timeFormat(given), isServed: await served() };
      print(first === undefined ? nothing(options) : eventTable(events, shown));
      if (next !== undefined) print(`\nmore: ${nextPage(options, next)}`);
      if (given.state !== undefined) return 0;
      // Without --state, the user may not know that there are other states.
      if (first !== undefined) print(`\n${hints(first)}`);
      print(`\n${otherStates(await reports.report())}`);
      return 0;
    });
};

/** Lists pages until there are `limit` events, because a search for a user may return fewer. */
async function fullPage(admin: InboxAdmin, options: InboxListOptions): Promise<InboxPage> {
  const { limit = 0 } = options;
  const page = await admin.list(options);
  const left = limit - page.events.length;
  if (page.next === undefined || left <= 0) return page;
  const rest = await fullPage(admin, { ...options, limit: left, after: page.next });
  return { events: [...page.events, ...rest.events], next: rest.next };
}

export async function findEvent(admin: InboxAdmin, id: string): Promise<EventDetails | undefined> {
  try {
    return await admin.show(id);
  } catch (error) {
    if (hasCode(error, "EVENT_NOT_FOUND")) return undefined;
    throw error;
  }
}

export interface TableOptions {
  readonly time?: TimeFormat;
  /** False if no bot has the inbox open. */
  readonly isServed?: boolean;
}

/** If all events have the same state, the header names their time. */
export function eventTable(
  events: readonly EventSummary[],
  { time = timeFormat({}), isServed = true }: TableOptions = {},
): string {
  const [first] = events;
  const isMixed = events.some(({ state }) => state !== first?.state);
  const isPending = first?.state === "pending" && !isMixed;
  const rows = events.map((event) => {
    const { wait } = event;
    return [
      printable(event.id),
      printable(event.type),
      printable(event.lane),
      ...(isMixed ? [event.state] : []),
      String(event.attempts),
      time.past(event.endedAt ?? event.receivedAt),
      ...(isPending ? [wait?.nextAt === undefined ? "" : time.future(wait.nextAt)] : []),
      whyText(event, { time, isServed }),
    ];
  });
  const when = isMixed || first === undefined ? "SINCE" : timeHeads[first.state];
  const why = isMixed || first === undefined ? "REASON" : whyHeads[first.state];
  const [state, next] = [isMixed ? ["STATE"] : [], isPending ? ["NEXT TRY"] : []];
  return table(["ID", "TYPE", "LANE", ...state, "ATTEMPTS", when, ...next, why], rows);
}

function whyText(event: EventSummary, { time, isServed }: Required<TableOptions>): string {
  const { run, wait, skipReason } = event;
  if (run !== undefined) return runText(run, time);
  if (wait !== undefined) return waitText(wait, isServed);
  if (skipReason !== undefined) return skipTexts[skipReason];
  return cut(event.discardReason ?? event.error ?? "", 80);
}

const whyHeads: Readonly<Record<EventState, string>> = {
  pending: "WAITS FOR",
  done: "SKIPPED",
  dead: "ERROR",
  discarded: "REASON",
};

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
