import type { InboxReport } from "../../inbox/records.ts";
import { print, printJson } from "../output.ts";
import { age, grouped, printable } from "../text.ts";
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
  const types = Object.entries(deadByType).map(([type, n]) => `${printable(type)} ${n}`);
  const rows = [
    ["pending", pending, oldest],
    ["dead", dead, types.join(", ")],
    ["done", done, ""],
    ["discarded", discarded, ""],
  ] as const;
  const width = Math.max(...rows.map(([, n]) => grouped(n).length));
  const lines = rows.map(([name, n, more]) =>
    `${name.padEnd(9)}  ${grouped(n).padStart(width)}  ${more}`.trimEnd(),
  );
  const bot = running ? "the bot is running" : "the bot is not running";
  const hint = dead > 0 ? "\n\nservice-bot inbox list   the dead letters" : "";
  return `${lines.join("\n")}\n\n${bot}${hint}`;
}
