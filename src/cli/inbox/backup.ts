import { loadDatabase } from "../../config.ts";
import { showDatabase } from "../../core/database-address.ts";
import type { BackupReport } from "../../inbox/sqlite/backup.ts";
import { print, printJson } from "../output.ts";
import { count } from "../text.ts";
import { CommandError, readArguments, UsageError } from "../usage.ts";
import { jsonFlag } from "./action.ts";
import { progressLine } from "./copy-text.ts";

/** Copies the inbox to a file, also while the bot runs. */
export function backup(args: readonly string[]): () => Promise<number> {
  const given = readArguments(args, jsonFlag, { max: 1 });
  const [to] = given.words;
  if (to === undefined) throw new UsageError("Name the file of the backup.");
  const { json } = given.flags;
  return async () => {
    const from = fileInEnvironment();
    const { backUpFile } = await import("../../inbox/sqlite/backup.ts");
    const began = performance.now();
    const progress = json ? undefined : progressLine(process.stderr);
    const report = await backUpFile(from, to, ({ pages, of }) =>
      progress?.tell(`copying: ${Math.floor((100 * pages) / Math.max(1, of))} %`),
    ).finally(() => progress?.end());
    const ms = Math.round(performance.now() - began);
    if (json) printJson({ ...report, ms });
    else print(backupText(report, ms));
    return 0;
  };
}

function fileInEnvironment(): string {
  const { database } = loadDatabase(process.env);
  if (database.kind === "sqlite") return database.file;
  throw new CommandError(
    `The inbox is in PostgreSQL (${showDatabase(database)}), which has backups of its own: pg_dump, or the provider's with ` +
      "point-in-time recovery. After a restore run: service-bot inbox restore --in-place (docs/backup.md).",
  );
}

function backupText({ file, events, pending, bytes, takenAt }: BackupReport, ms: number): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return [
    `backed up and checked in ${(ms / 1_000).toFixed(1)} s: ${file}`,
    `${count(events, "event")}, ${pending} of them pending, ${size}, as of ${new Date(takenAt).toISOString()}`,
  ].join("\n");
}
