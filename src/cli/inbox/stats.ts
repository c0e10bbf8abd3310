import type { InboxReport } from "../../inbox/records.ts";
import { print, printJson } from "../output.ts";
import { age, bytes, cut, grouped } from "../text.ts";
import { readArguments } from "../usage.ts";
import { type Action, jsonFlag } from "./action.ts";
import { instancesText } from "./instances.ts";

export const stats: Action = (args) => {
  const given = readArguments(args, jsonFlag, { max: 0 });
  return async ({ admin, served, together }) => {
    const report = await admin.stats();
    const running = await served();
    const shared = await together?.();
    if (given.flags.json) printJson({ ...report, running, ...shared });
    else
      print([statsText(report, running), ...(shared ? [instancesText(shared)] : [])].join("\n\n"));
    return 0;
  };
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

/** What is asked next; a line for what there is nothing of is left out. */
function details(report: InboxReport): string {
  const { pending, dead, pendingByType, deadByError, lanes, storage } = report;
  const { ready, waiting, leased, blocked } = lanes;
  const held = blocked === 0 ? "" : `, of which ${grouped(blocked)} hold up other events`;
  const wal = storage.walBytes === undefined ? "" : `, and ${bytes(storage.walBytes)} in its WAL`;
  const rows = [
    ["pending by type", pending > 0 ? listed(pendingByType) : ""],
    [
      "lanes",
      pending > 0
        ? `${grouped(ready)} ready, ${grouped(leased)} being handled, ${grouped(waiting)} waiting for a retry${held}`
        : "",
    ],
    ["dead by error", dead > 0 ? listed(deadByError) : ""],
    ["size", `${bytes(storage.bytes)}${wal}`],
  ] as const;
  return rows
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `${name.padEnd(15)}  ${text}`)
    .join("\n");
}

/** So many kinds are listed at most; --json has all. */
const KINDS = 8;

function listed(counts: Readonly<Record<string, number>>): string {
  const all = Object.entries(counts).map(([name, n]) => `${cut(name, 60)} ${grouped(n)}`);
  return all.length <= KINDS ? all.join(", ") : `${all.slice(0, KINDS).join(", ")}, …`;
}
