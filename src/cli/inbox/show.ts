import { parseJson } from "../../core/json.ts";
import { printable } from "../../core/safe-text.ts";
import type { EventDetails, StepRecord } from "../../inbox/event-records.ts";
import { ownCommand, readArguments, UsageError } from "../command.ts";
import {
  count,
  cut,
  moment,
  print,
  printableLines,
  printJson,
  quoted,
  type TimeFormat,
  table,
  timeFormat,
} from "../output.ts";
import { codeInError, remedyFor } from "../remedies.ts";
import { type Action, withInbox } from "./attach.ts";
import { timeFlags } from "./filter.ts";
import { runText, skipTexts, waitText } from "./wait.ts";

export const show: Action = (args) => {
  const { flags, words } = readArguments(args, timeFlags, { max: 1 });
  const [id] = words;
  if (id === undefined) throw new UsageError("Name the event by its id.");
  return () =>
    withInbox(async ({ admin, served }) => {
      const event = await admin.show(id);
      if (flags.json) printJson(event, flags);
      else print(showEvent(event, { time: timeFormat(flags), isServed: await served() }));
      return 0;
    });
};

interface ShowOptions {
  readonly time: TimeFormat;
  /** False if no bot has the inbox open. */
  readonly isServed: boolean;
}

function showEvent(event: EventDetails, options: ShowOptions): string {
  const { time } = options;
  const parts = [
    facts(event, options),
    `event\n${content(event.body)}`,
    event.history.length > 0 ? `failed runs\n${history(event, time)}` : "",
    event.steps.length > 0 ? `steps\n${steps(event, time)}` : "",
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

function facts(event: EventDetails, { time, isServed }: ShowOptions): string {
  const { id, type, state, endedAt, run, wait, skipReason } = event;
  const now = Date.now();
  const error = event.error ?? wait?.error;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["lane", event.lane],
    ["source", event.source],
    ["trace", event.trace],
    ["received", moment(event.receivedAt, now)],
    [state === "dead" ? "died" : state, endedAt === undefined ? undefined : moment(endedAt, now)],
    ["attempts", String(event.attempts)],
    ["run", run && runText(run, time)],
    ["next try", wait?.nextAt === undefined ? undefined : time.future(wait.nextAt)],
    ["waits for", wait && waitText(wait, isServed)],
    ["error", error],
    ["advice", error === undefined ? undefined : remedyFor(codeInError(error))],
    ["skipped", skipReason && skipTexts[skipReason]],
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
    return JSON.stringify(parseJson(body), null, 2);
  } catch {
    return body;
  }
}

function history({ history }: EventDetails, time: TimeFormat): string {
  const rows = history.map(({ number, outcome, error, endedAt }) => [
    String(number),
    outcome,
    time.past(endedAt),
    cut(error ?? (outcome === "crashed" ? "the process ended during the run" : ""), 100),
  ]);
  return table(["#", "OUTCOME", "ENDED", "ERROR"], rows).replace(/^/gm, "  ");
}

function steps({ steps }: EventDetails, time: TimeFormat): string {
  const rows = steps.map((step) => [
    printable(step.name),
    step.state,
    time.past(step.startedAt),
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
    const retry = `${ownCommand()} inbox retry ${quoted(event.id)}`;
    const ends = event.wait?.nextAt === undefined ? [] : ["  # end the wait", `  ${retry}`];
    return ["remedies", ...ends, "  # never run the event", `  ${discard}`].join("\n");
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
