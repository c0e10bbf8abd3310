import { maxOf } from "../../core/extremes.ts";
import { printable } from "../../core/safe-text.ts";
import type { InboxReport } from "../../inbox/admin.ts";
import type { InstanceReport, SharedReport } from "../../inbox/shared.ts";
import { ownCommand, readArguments } from "../command.ts";
import {
  age,
  bytes,
  count,
  cut,
  grouped,
  print,
  printJson,
  type TimeFormat,
  table,
  timeFormat,
} from "../output.ts";
import { type Action, withInbox } from "./attach.ts";
import { timeFlags } from "./filter.ts";

export const stats: Action = (args) => {
  const { flags } = readArguments(args, timeFlags, { max: 0 });
  return () =>
    withInbox(async ({ reports, served, together }) => {
      const report = await reports.report();
      const running = await served();
      const shared = await together?.();
      if (flags.json) printJson({ ...report, running, ...shared }, flags);
      else {
        print(statsText(report, running, timeFormat(flags)));
        if (shared !== undefined) print(`\n${instancesText(shared)}`);
      }
      return 0;
    });
};

function statsText(report: InboxReport, running: boolean, time: TimeFormat): string {
  const { pending, done, dead, discarded, oldestPendingAt, deadByType } = report;
  const oldest = oldestPendingAt === undefined ? "" : `oldest ${time.past(oldestPendingAt)}`;
  const rows = [
    ["pending", pending, oldest],
    ["dead", dead, listed(deadByType)],
    ["done", done, ""],
    ["discarded", discarded, ""],
  ] as const;
  const width = maxOf(rows.map(([, n]) => grouped(n).length));
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
