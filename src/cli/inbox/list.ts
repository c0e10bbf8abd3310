import { printable } from "../../core/safe-text.ts";
import { hasCode } from "../../errors.ts";
import type { InboxAdmin, InboxListOptions } from "../../inbox/admin.ts";
import {
  type EventDetails,
  type EventState,
  type EventSummary,
  eventStates,
  type InboxReport,
} from "../../inbox/records.ts";
import { age, cut, grouped, print, printJson, quoted, table } from "../output.ts";
import { oneOf, readArguments, wholeNumber } from "../usage.ts";
import { type Action, withInbox } from "./attach.ts";
import { filterArguments, filterFlags, filterIn, filterWords, nameOf } from "./filter.ts";

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
      // Without --state the user may not know of the other states.
      if (first !== undefined) print(`\n${hints(first)}`);
      print(`\n${otherStates(await admin.stats())}`);
      return 0;
    });
};

/** Returns an event; `undefined` if the inbox does not know it. */
export async function findEvent(admin: InboxAdmin, id: string): Promise<EventDetails | undefined> {
  try {
    return await admin.show(id);
  } catch (error) {
    if (hasCode(error, "EVENT_NOT_FOUND")) return undefined;
    throw error;
  }
}

/** Events in columns. If all have one state, the head names the time. */
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
    `service-bot inbox show ${word}   its content, what was tried, and what can be done`,
    `service-bot inbox retry ${word}  run it again`,
  ].join("\n");
}

function otherStates({ pending, done, discarded }: InboxReport): string {
  const parts = Object.entries({ pending, done, discarded });
  const counts = parts.map(([state, n]) => `${grouped(n)} ${state}`).join(", ");
  return `also in the inbox: ${counts}   (--state pending|done|discarded|all)`;
}

function nothing({ state, limit, after, ...filter }: InboxListOptions): string {
  if (after !== undefined) return "There are no more.";
  return `No ${state === undefined ? "events" : nameOf(state, 2)}${filterWords(filter)}.`;
}

function nextPage({ state, limit, after, ...filter }: InboxListOptions, next: string): string {
  const words = `--state ${state ?? "all"}${filterArguments(filter)} --limit ${limit} --after ${next}`;
  return `service-bot inbox list ${words}`;
}
