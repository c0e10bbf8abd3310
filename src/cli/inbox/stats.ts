import { printable } from "../../core/safe-text.ts";
import type { InboxReport } from "../../inbox/records.ts";
import type { InstanceReport, SharedReport } from "../../inbox/shared.ts";
import { age, bytes, count, cut, grouped, print, printJson, table } from "../output.ts";
import { readArguments } from "../usage.ts";
import { type Action, withInbox } from "./attach.ts";

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
  const hint = dead > 0 ? "\n\nservice-bot inbox list   the dead letters" : "";
  return `${lines.join("\n")}\n\n${details(report)}\n\n${bot}${hint}`;
}

/** Lines about lanes, kinds and size. Lines without content are left out. */
function details(report: InboxReport): string {
  const { pending, dead, pendingByType, deadByError, lanes, storage } = report;
  const { ready, waiting, leased, blocked } = lanes;
  const held = blocked === 0 ? "" : `, of which ${grouped(blocked)} hold up other events`;
  const wal = storage.walBytes === undefined ? "" : `, and ${bytes(storage.walBytes)} in its WAL`;
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

/** Kinds in one line; `--json` has all. */
const MAX_KINDS = 8;

function listed(counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).map(([name, n]) => `${cut(name, 60)} ${grouped(n)}`);
  return all.length <= MAX_KINDS ? all.join(", ") : `${all.slice(0, MAX_KINDS).join(", ")}, …`;
}

/** The instances of the bot, and which one reads the event log. */
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
  return `the event log is read in term ${term}; its lease holds for ${Math.ceil(expiresInMs / 1_000)} s unless it is renewed`;
}
