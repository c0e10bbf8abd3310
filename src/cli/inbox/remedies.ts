import { printable } from "../../core/terminal.ts";
import type { EventDetails, StepRecord } from "../../inbox/records.ts";
import { count, quoted } from "../text.ts";

/** What can be done about an event, as commands to type; empty when there is nothing. */
export function whatToDo(event: EventDetails): string {
  const id = quoted(event.id);
  const retry = `service-bot inbox retry ${id}`;
  const discard = `service-bot inbox discard ${id} --reason "..."`;
  if (event.leased) return "what can be done\n  It is being handled right now.";
  if (event.state === "pending") {
    return `what can be done\n  It runs by itself as soon as its lane is free and its wait is over.\n  ${discard}`;
  }
  if (event.state !== "dead") return "";
  const open = event.steps.filter(({ state }) => state === "open");
  const commands =
    event.body === undefined
      ? [[discard, "its content was dropped, so it cannot run again"]]
      : open.length > 0
        ? [
            [`${retry} --assume done`, `${it(open.length)} took effect: go on after`],
            [`${retry} --assume absent`, `${it(open.length)} did not: do it`],
            [retry, "let the handler find out, where it can"],
            [discard, "never run it"],
          ]
        : [
            [retry, "run it again, from its first attempt"],
            [discard, "never run it"],
          ];
  const width = Math.max(...commands.map(([command = ""]) => command.length));
  const lines = commands.map(([command = "", why = ""]) => `  ${command.padEnd(width)}  ${why}`);
  return ["what can be done", ...openNote(open), ...lines].join("\n");
}

function it(n: number): string {
  return n === 1 ? "it" : "they";
}

function openNote(open: readonly StepRecord[]): string[] {
  if (open.length === 0) return [];
  const list = open.map(({ name }) => `"${printable(name)}"`).join(", ");
  return [
    `  ${count(open.length, "step")} began without a known result: ${list}. Look whether ${it(open.length)} took effect, then`,
  ];
}
