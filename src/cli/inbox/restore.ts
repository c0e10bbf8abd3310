import { loadDatabase } from "../../config.ts";
import type { RestoreMark } from "../../inbox/restored.ts";
import type { RestoreReport } from "../../inbox/sqlite/restore.ts";
import { print, printJson } from "../output.ts";
import { count } from "../text.ts";
import { type Arguments, CommandError, readArguments, textFlag, UsageError } from "../usage.ts";
import { jsonFlag } from "./action.ts";

const flags = {
  ...jsonFlag,
  "in-place": { type: "boolean" },
  "move-old": { type: "boolean" },
  ended: { type: "string" },
  "assume-absent": { type: "boolean" },
} as const;

/** The clock of whoever says when a bot has ended need not be the platform's, in milliseconds. */
const CLOCKS_MS = 300_000;

type Restored = Omit<RestoreReport, "movedTo"> & { readonly movedTo?: string | undefined };

/** Puts a backup in the place of the inbox, or says of what is there that it came from one. */
export function restore(args: readonly string[]): () => Promise<number> {
  const given = readArguments(args, flags, { max: 1 });
  const [backup] = given.words;
  const inPlace = given.flags["in-place"] === true;
  if ((backup === undefined) !== inPlace) {
    throw new UsageError(
      "Name the file of the backup, or say --in-place of what is there already.",
    );
  }
  if (inPlace && given.flags["move-old"]) throw new UsageError("--in-place moves nothing.");
  const mark = markOf(given);
  return async () => {
    const report = await carryOut(backup, mark, given.flags["move-old"] === true);
    if (given.flags.json) printJson({ ...report, movedTo: report.movedTo ?? null, at: mark.at });
    else print(restoredText(report, mark));
    return 0;
  };
}

async function carryOut(
  backup: string | undefined,
  mark: RestoreMark,
  moveOld: boolean,
): Promise<Restored> {
  const { database, databaseSchema: schema } = loadDatabase(process.env);
  if (database.kind === "postgres") {
    if (backup !== undefined) throw ownTools();
    const { markDatabase } = await import("../../inbox/postgres/maintenance.ts");
    return await markDatabase({ url: database.url, schema }, mark);
  }
  const { markFile, restoreFile } = await import("../../inbox/sqlite/restore.ts");
  return backup === undefined
    ? markFile(database.file, mark)
    : await restoreFile(backup, database.file, mark, moveOld);
}

function markOf(given: Arguments): RestoreMark {
  const now = Date.now();
  const ended = textFlag(given, "ended");
  const assumeAbsent = given.flags["assume-absent"] === true;
  if (ended === undefined) return { at: now, assumeAbsent };
  const at = /(Z|[+-]\d\d:?\d\d)$/i.test(ended) ? Date.parse(ended) : Number.NaN;
  if (!(at <= now)) {
    throw new UsageError(
      "--ended takes a time that is over, with its zone, such as 2026-03-01T09:30:00Z.",
    );
  }
  return { at: now, until: at + CLOCKS_MS, assumeAbsent };
}

function ownTools(): CommandError {
  return new CommandError(
    "DATABASE_URL is a PostgreSQL database, which is restored by its own tools (pg_restore, psql, the provider's). Then " +
      "run: service-bot inbox restore --in-place (docs/backup.md).",
  );
}

function restoredText({ place, movedTo, events, pending }: Restored, mark: RestoreMark): string {
  const unsettled = mark.assumeAbsent
    ? "What cannot be looked for is done again."
    : "What cannot be looked for waits as a dead letter: service-bot inbox list.";
  return [
    `restored: ${place}, ${count(events, "event")}, ${pending} of them pending`,
    ...(movedTo === undefined ? [] : [`what was there before: ${movedTo}`]),
    "Start the bot. It reads the event log from the backup on, and looks for each answer before it sends it.",
    unsettled,
  ].join("\n");
}
