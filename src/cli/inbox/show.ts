import { printable } from "../../core/terminal.ts";
import type { EventDetails, StepRecord } from "../../inbox/records.ts";
import { print, printJson } from "../output.ts";
import { age, cut, moment, printableLines, table } from "../text.ts";
import { readArguments, UsageError } from "../usage.ts";
import { type Action, jsonFlag } from "./action.ts";
import { whatToDo } from "./remedies.ts";

export const show: Action = (args) => {
  const given = readArguments(args, jsonFlag, { max: 1 });
  const [id] = given.words;
  if (id === undefined) throw new UsageError("Name the event by its id.");
  return async ({ admin }) => {
    const event = await admin.show(id);
    if (given.flags.json) printJson(event);
    else print(showEvent(event, Date.now()));
    return 0;
  };
};

/** Everything about one event, and what can be done about it. */
function showEvent(event: EventDetails, now: number): string {
  const parts = [
    facts(event, now),
    `event\n${content(event.body)}`,
    event.history.length > 0 ? `runs that did not end well\n${history(event, now)}` : "",
    event.steps.length > 0 ? `steps\n${steps(event, now)}` : "",
    whatToDo(event),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

const names = {
  pending: "pending",
  done: "done",
  dead: "dead letter",
  discarded: "discarded",
} as const;

function facts(event: EventDetails, now: number): string {
  const { id, type, state, leased, lane, source, trace, attempts, receivedAt, endedAt, error } =
    event;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["lane", lane],
    ["source", source],
    ["trace", trace],
    ["received", moment(receivedAt, now)],
    [state === "dead" ? "died" : state, endedAt === undefined ? undefined : moment(endedAt, now)],
    ["attempts", String(attempts)],
    ["error", error],
    ["reason", event.discardReason],
  ];
  // An error may have several lines; they stay below its first.
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(10)} ${printableLines(value, 13)}`],
  );
  const what = leased ? "pending, running now" : names[state];
  return [`${printable(id)}  ${printable(type)}  ${what}`, ...lines].join("\n");
}

function content(body: string | undefined): string {
  if (body === undefined) return "  was dropped";
  return `  ${printableLines(pretty(body), 2)}`;
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
    cut(error ?? (outcome === "crashed" ? "it never said how it ended" : ""), 100),
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
  if (state === "open") return "unknown";
  return result ?? "settled by hand";
}
