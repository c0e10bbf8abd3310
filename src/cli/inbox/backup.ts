import { loadDatabase } from "../../config.ts";
import { showDatabase } from "../../core/database-address.ts";
import { pageUrl } from "../../core/manifest.ts";
import type { RestoreMark } from "../../inbox/restore-mark.ts";
import type { BackupReport } from "../../inbox/sqlite/backup.ts";
import type { RestoreReport } from "../../inbox/sqlite/restore.ts";
import { CommandError, readArguments, UsageError } from "../command.ts";
import { count, print, printJson, progressOn } from "../output.ts";
import type { Action } from "./attach.ts";

export const backup: Action = (args) => {
  const { flags, words } = readArguments(args, { json: { type: "boolean" } }, { max: 1 });
  const [to] = words;
  if (to === undefined) throw new UsageError("Name the file to write the backup to.");
  return async () => {
    const from = fileInEnvironment();
    const { backUpFile } = await import("../../inbox/sqlite/backup.ts");
    const began = performance.now();
    const progress = progressOn(flags);
    const report = await backUpFile(from, to, ({ pages, of }) =>
      progress.show("pages copied", pages, of),
    ).finally(progress.end);
    const ms = Math.round(performance.now() - began);
    if (flags.json) printJson({ ...report, ms });
    else print(backupText(report, ms));
    return 0;
  };
};

function fileInEnvironment(): string {
  const { database } = loadDatabase(process.env);
  if (database.kind === "sqlite") return database.file;
  throw new CommandError(
    `The inbox is in PostgreSQL (${showDatabase(database)}). Use pg_dump or the provider's backups.\n` +
      `After a restore, run \`npx service-bot inbox restore --in-place\` (${pageUrl("operate/backup#postgresql")}).`,
  );
}

function backupText({ file, events, pending, bytes, takenAt }: BackupReport, ms: number): string {
  const size = `${(bytes / 1_000_000).toFixed(1)} MB`;
  return [
    `backed up and checked in ${(ms / 1_000).toFixed(1)} s: ${file}`,
    `${count(events, "event")}, ${pending} of them pending, ${size}, as of ${new Date(takenAt).toISOString()}`,
  ].join("\n");
}

const restoreFlags = {
  json: { type: "boolean" },
  "in-place": { type: "boolean" },
  "move-old": { type: "boolean" },
  ended: { type: "string" },
} as const;

/** Tolerated difference between the platform's clock and the clock that the `--ended` time comes from, in ms. */
const CLOCK_TOLERANCE_MS = 300_000;

type Restored = Omit<RestoreReport, "movedTo"> & { readonly movedTo?: string | undefined };

export const restore: Action = (args) => {
  if (args.some((arg) => /^--assume-absent(=|$)/.test(arg))) {
    throw new UsageError(
      "--assume-absent was removed. Restore without it; after the bot has run, use " +
        "`npx service-bot inbox retry --all --assume absent`.",
    );
  }
  const { flags, words } = readArguments(args, restoreFlags, { max: 1 });
  const [file] = words;
  const inPlace = flags["in-place"] === true;
  const moveOld = flags["move-old"] === true;
  if ((file === undefined) !== inPlace) {
    throw new UsageError(
      "Name the backup file, or use --in-place for an inbox restored with other tools.",
    );
  }
  if (inPlace && moveOld) throw new UsageError("--move-old cannot be combined with --in-place.");
  const mark = markOf(flags.ended);
  return async () => {
    const report = await restoreFrom(file, mark, moveOld);
    if (flags.json) printJson({ ...report, movedTo: report.movedTo ?? null, at: mark.at });
    else print(restoredText(report));
    return 0;
  };
};

function markOf(ended: string | undefined): RestoreMark {
  const now = Date.now();
  if (ended === undefined) return { at: now };
  const at = /(Z|[+-]\d\d:?\d\d)$/i.test(ended) ? Date.parse(ended) : Number.NaN;
  if (at <= now) return { at: now, until: at + CLOCK_TOLERANCE_MS };
  throw new UsageError(
    `--ended takes a past time with its zone, such as 2026-03-01T09:30:00Z (got "${ended}").`,
  );
}

async function restoreFrom(
  file: string | undefined,
  mark: RestoreMark,
  moveOld: boolean,
): Promise<Restored> {
  const { database, databaseSchema: schema } = loadDatabase(process.env);
  if (database.kind === "sqlite") {
    const { markFile, restoreFile } = await import("../../inbox/sqlite/restore.ts");
    return file === undefined
      ? markFile(database.file, mark)
      : await restoreFile(file, database.file, mark, moveOld);
  }
  if (file !== undefined) {
    throw new CommandError(
      "DATABASE_URL is a PostgreSQL database. Restore it with pg_restore or the provider's tools.\n" +
        `Then run \`npx service-bot inbox restore --in-place\` (${pageUrl("operate/backup#postgresql")}).`,
    );
  }
  const { markDatabase } = await import("../../inbox/postgres/maintenance.ts");
  return await markDatabase({ url: database.url, schema }, mark);
}

function restoredText({ place, movedTo, events, pending }: Restored): string {
  return [
    `restored: ${place}, ${count(events, "event")}, ${pending} of them pending`,
    ...(movedTo === undefined ? [] : [`the old inbox was moved to ${movedTo}`]),
    "Start the bot. It reads the event log since the backup, and searches for each reply before it sends one.",
    "Events that it cannot check become dead letters: npx service-bot inbox list",
  ].join("\n");
}
