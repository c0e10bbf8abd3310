import { printable } from "../../core/safe-text.ts";
import type { EventDetails, StepRecord } from "../../inbox/records.ts";
import {
  age,
  count,
  cut,
  moment,
  print,
  printableLines,
  printJson,
  quoted,
  table,
} from "../output.ts";
import { readArguments, UsageError } from "../usage.ts";
import { type Action, withInbox } from "./attach.ts";

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

/** Everything about one event, and what can be done about it. */
function showEvent(event: EventDetails, now: number): string {
  const parts = [
    facts(event, now),
    `event\n${content(event.body)}`,
    event.history.length > 0 ? `runs that did not end well\n${history(event, now)}` : "",
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
  // The lines of an error stay below its first.
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(10)} ${printableLines(value, 13)}`],
  );
  const what = event.leased ? "pending, running now" : stateNames[state];
  return [`${printable(id)}  ${printable(type)}  ${what}`, ...lines].join("\n");
}

function content(body: string | undefined): string {
  return body === undefined ? "  was dropped" : `  ${printableLines(pretty(body), 2)}`;
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
    cut(error ?? (outcome === "crashed" ? "its end was never recorded" : ""), 100),
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
  return state === "open" ? "unknown" : (result ?? "settled by hand");
}

/** Commands that settle an event; empty if there is none. */
function remedies(event: EventDetails): string {
  if (event.leased) return "what can be done\n  The event is being handled now.";
  const discard = `service-bot inbox discard ${quoted(event.id)} --reason "..."`;
  if (event.state === "pending") {
    return `what can be done\n  It runs by itself as soon as its lane is free and its wait is over.\n  ${discard}`;
  }
  if (event.state !== "dead") return "";
  const open = event.steps.filter(({ state }) => state === "open");
  const commands = commandsFor(event, open, discard);
  const width = Math.max(...commands.map(([command]) => command.length));
  const lines = commands.map(([command, why]) => `  ${command.padEnd(width)}  ${why}`);
  return ["what can be done", ...openNote(open), ...lines].join("\n");
}

function commandsFor(
  { id, body }: EventDetails,
  open: readonly StepRecord[],
  discard: string,
): readonly (readonly [command: string, why: string])[] {
  if (body === undefined) return [[discard, "its content was dropped, so it cannot run again"]];
  const retry = `service-bot inbox retry ${quoted(id)}`;
  if (open.length === 0) {
    return [
      [retry, "run it again, from its first attempt"],
      [discard, "never run it"],
    ];
  }
  return [
    [`${retry} --assume done`, `${they(open)} took effect: go on after`],
    [`${retry} --assume absent`, `${they(open)} did not: do it`],
    [retry, "let the handler find out, where it can"],
    [discard, "never run it"],
  ];
}

function openNote(open: readonly StepRecord[]): string[] {
  if (open.length === 0) return [];
  const list = open.map(({ name }) => `"${printable(name)}"`).join(", ");
  return [
    `  ${count(open.length, "step")} began without a known result: ${list}. Look whether ${they(open)} took effect, then`,
  ];
}

function they({ length }: readonly StepRecord[]): string {
  return length === 1 ? "it" : "they";
}
