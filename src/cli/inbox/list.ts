import { printable } from "../../core/terminal.ts";
import { hasCode } from "../../errors.ts";
import type { InboxAdmin, InboxListOptions } from "../../inbox/admin.ts";
import {
  type EventDetails,
  type EventState,
  type EventSummary,
  eventStates,
  type InboxReport,
} from "../../inbox/records.ts";
import { print, printJson } from "../output.ts";
import { age, cut, grouped, quoted, table } from "../text.ts";
import { type Arguments, readArguments, textFlag, UsageError, wholeNumber } from "../usage.ts";
import { type Action, jsonFlag, nameOf } from "./action.ts";
import { filterArguments, filterFlags, filterIn, filterWords } from "./filter.ts";

const flags = {
  ...jsonFlag,
  ...filterFlags,
  state: { type: "string" },
  limit: { type: "string" },
  after: { type: "string" },
} as const;

export const list: Action = (args) => {
  const given = readArguments(args, flags, { max: 0 });
  const options = listOptions(given);
  return async ({ admin }) => {
    const page = await admin.list(options);
    if (given.flags.json) {
      const events = await Promise.all(page.events.map((event) => detailsOf(admin, event)));
      printJson({ ...page, events });
      return 0;
    }
    const [first] = page.events;
    if (first !== undefined) print(eventTable(page.events));
    else print(nothing(options));
    if (page.next !== undefined) print(`\nmore: ${nextPage(options, page.next)}`);
    // Whoever asks for no state in particular may not know what else there is.
    if (given.flags.state !== undefined) return 0;
    if (first !== undefined) print(`\n${hints(first)}`);
    print(`\n${others(await admin.stats())}`);
    return 0;
  };
};

/** The whole event; its line of the list if the event is gone meanwhile. */
async function detailsOf(
  admin: InboxAdmin,
  event: EventSummary,
): Promise<EventSummary | EventDetails> {
  try {
    return await admin.show(event.id);
  } catch (error) {
    if (hasCode(error, "EVENT_NOT_FOUND")) return event;
    throw error;
  }
}

function listOptions(given: Arguments): InboxListOptions {
  const state = textFlag(given, "state") ?? "dead";
  const known = eventStates.find((one) => one === state);
  if (known === undefined && state !== "all") {
    throw new UsageError(`--state takes one of ${eventStates.join(", ")}, all (got "${state}").`);
  }
  return {
    state: known,
    ...filterIn(given),
    limit: wholeNumber(given, "limit", { min: 1, max: 1_000 }) ?? 20,
    after: textFlag(given, "after"),
  };
}

/** Events in columns, of which the first one says what the times are. */
export function eventTable(events: readonly EventSummary[]): string {
  const now = Date.now();
  const mixed = events.some(({ state }) => state !== events[0]?.state);
  const rows = events.map((event) => [
    printable(event.id),
    printable(event.type),
    printable(event.lane),
    ...(mixed ? [event.state] : []),
    String(event.attempts),
    age(event.endedAt ?? event.receivedAt, now),
    event.leased ? "running now" : cut(event.discardReason ?? event.error ?? "", 80),
  ]);
  const when = mixed ? "SINCE" : sinceOf(events[0]?.state);
  const why = events[0]?.state === "discarded" && !mixed ? "REASON" : "ERROR";
  const head = ["ID", "TYPE", "LANE", ...(mixed ? ["STATE"] : []), "ATTEMPTS", when, why];
  return table(head, rows);
}

function sinceOf(state: EventState | undefined): string {
  if (state === "dead") return "DIED";
  if (state === "done") return "DONE";
  return state === "discarded" ? "DISCARDED" : "RECEIVED";
}

function hints({ id }: EventSummary): string {
  const word = quoted(id);
  return [
    `service-bot inbox show ${word}   its content, what was tried, and what can be done`,
    `service-bot inbox retry ${word}  run it again`,
  ].join("\n");
}

function others({ pending, done, discarded }: InboxReport): string {
  const parts = Object.entries({ pending, done, discarded });
  const counts = parts.map(([state, n]) => `${grouped(n)} ${state}`).join(", ");
  return `also in the inbox: ${counts}   (--state pending|done|discarded|all)`;
}

function nothing({ state, limit, after, ...filter }: InboxListOptions): string {
  if (after !== undefined) return "That was all.";
  return `No ${state === undefined ? "events" : nameOf(state, 2)}${filterWords(filter)}.`;
}

function nextPage({ state, limit, after, ...filter }: InboxListOptions, next: string): string {
  const words = `--state ${state ?? "all"}${filterArguments(filter)} --limit ${limit} --after ${next}`;
  return `service-bot inbox list ${words}`;
}
