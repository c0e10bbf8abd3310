import { loadDatabase } from "../../config.ts";
import {
  type DatabaseAddress,
  databaseProblem,
  readDatabase,
  showDatabase,
} from "../../core/database-address.ts";
import { ServiceBotError } from "../../errors.ts";
import { type Row, type Table, tables } from "../../inbox/copy.ts";
import type { CopyTarget } from "../../inbox/postgres/copy.ts";
import { moved } from "../../inbox/sql/marks.ts";
import type { CopySource } from "../../inbox/sqlite/copy.ts";
import { type Flags, readArguments, UsageError } from "../command.ts";
import { variable } from "../environment.ts";
import { grouped, print, printJson, progressOn, table } from "../output.ts";
import type { Action } from "./attach.ts";

const flags = {
  json: { type: "boolean" },
  from: { type: "string" },
  to: { type: "string" },
  "dry-run": { type: "boolean" },
  reopen: { type: "boolean" },
} as const;

export const copy: Action = (args) => {
  const { flags: given } = readArguments(args, flags, { max: 0 });
  const from = addressIn(given, "from");
  const to = addressIn(given, "to");
  if (given.reopen) {
    if (to !== undefined || given["dry-run"]) {
      throw new UsageError("--reopen can only be combined with --from.");
    }
    return () => reopen(from ?? loadDatabase(process.env).database, given);
  }
  if (from === undefined && to === undefined) {
    throw new UsageError("Use --from, --to, or both. Each defaults to DATABASE_URL.");
  }
  return async () => {
    const [file, url] = [sourceFile(from), targetUrl(to)];
    const { CopySource } = await import("../../inbox/sqlite/copy.ts");
    const { CopyTarget } = await import("../../inbox/postgres/copy.ts");
    const source = new CopySource(file);
    try {
      const target = await CopyTarget.open({ url, schema: schema() });
      try {
        return await (given["dry-run"] ? showCounts : carryOut)(source, target, given);
      } finally {
        await target.close();
      }
    } finally {
      source.close();
    }
  };
};

type CopyFlags = Flags<typeof flags>;

/** Maximum difference between clocks that count as equal, in ms. Times are then copied unchanged. */
const SAME_CLOCK_MS = 1_000;

export type OnRows = (table: Table, done: number) => void;

/**
 * Copies a whole inbox. Until the copy is complete, a mark on the target prevents bots from starting there. At the end,
 * a mark on the source prevents bots from starting on the original. An interrupted copy can be resumed. A rejected copy
 * changes neither inbox.
 *
 * @returns the ms added to all times, because the two clocks differ
 * @throws {ServiceBotError} INBOX_DIFFERS, INBOX_IN_USE, INBOX_MOVED, INBOX_NOT_EMPTY, INBOX_TOO_NEW, INBOX_TOO_OLD,
 * INBOX_UNFINISHED, STORE_UNAVAILABLE
 */
export async function copyInbox(
  source: CopySource,
  target: CopyTarget,
  onRows: OnRows = () => undefined,
): Promise<number> {
  await check(source, target);
  await target.begin(source.place);
  source.endRuns();
  const difference = (await target.now()) - Date.now();
  const byMs = Math.abs(difference) < SAME_CLOCK_MS ? 0 : difference;
  for (const table of tables) {
    let done = 0;
    for (const rows of source.batches(table)) {
      await target.write(table, moveTimes(table, rows, byMs));
      done += rows.length;
      onRows(table, done);
    }
  }
  await compareCounts(source, target);
  // Mark the source first, so that briefly no bot can start. In the reverse order, two bots could start.
  source.leave(target.place);
  await target.finish();
  return byMs;
}

async function check(source: CopySource, target: CopyTarget): Promise<void> {
  const before = source.movedTo();
  // A copy interrupted right before its last step can be resumed.
  const isResumed = before === target.place && (await target.isUnfinished());
  if (before !== undefined && !isResumed) throw moved(source.place, before);
  await target.check(source.place);
}

/** Converts times to the target's clock, so that waits and ages stay the same. */
function moveTimes({ columns }: Table, rows: readonly Row[], byMs: number): readonly Row[] {
  if (byMs === 0) return rows;
  const isTime = columns.map(({ type }) => type === "time");
  return rows.map((row) =>
    row.map((cell, at) =>
      isTime[at] && typeof cell === "number" && cell > 0 ? cell + byMs : cell,
    ),
  );
}

async function compareCounts(source: CopySource, target: CopyTarget): Promise<void> {
  const differing: string[] = [];
  for (const table of tables) {
    if ((await target.count(table)) !== source.count(table)) differing.push(table.name);
  }
  if (differing.length === 0) return;
  throw new ServiceBotError(
    "INBOX_DIFFERS",
    `${target.place} and ${source.place} differ after the copy: ${differing.join(", ")}. Another program, a trigger or a rule ` +
      "has written to the copy. Remove the cause and copy again. Until then the bot can keep using the original.",
  );
}

async function carryOut(source: CopySource, target: CopyTarget, given: CopyFlags): Promise<number> {
  const began = performance.now();
  const progress = progressOn(given);
  const rows = countsOf(source);
  const clockMovedMs = await copyInbox(source, target, ({ name }, done) =>
    progress.show(`copying ${name}`, done, rows[name]),
  ).finally(progress.end);
  const ms = Math.round(performance.now() - began);
  const [from, to] = [source.place, target.place];
  if (given.json) {
    printJson({ from, to, clockMovedMs, rows, ms });
    return 0;
  }
  print(`${countsTable(rows)}\n`);
  if (clockMovedMs !== 0)
    print(`times were shifted by ${clockMovedMs} ms because the two clocks differ`);
  print(`copied in ${(ms / 1_000).toFixed(1)} s: ${from} to ${to}`);
  print(
    "Set DATABASE_URL to the copy and start the bot. Bots now refuse to start on the original.",
  );
  return 0;
}

async function showCounts(
  source: CopySource,
  target: CopyTarget,
  { json }: CopyFlags,
): Promise<number> {
  await check(source, target);
  const rows = countsOf(source);
  if (json) printJson({ from: source.place, to: target.place, rows });
  else {
    print(countsTable(rows));
    print(`\n${source.place} can be copied to ${target.place}; nothing was changed`);
  }
  return 0;
}

function countsOf(source: CopySource): Readonly<Record<string, number>> {
  return Object.fromEntries(tables.map((table) => [table.name, source.count(table)]));
}

function countsTable(rows: Readonly<Record<string, number>>): string {
  return table(
    ["TABLE", "ROWS"],
    Object.entries(rows).map(([name, n]) => [name, grouped(n)]),
  );
}

async function reopen(address: DatabaseAddress, { json }: CopyFlags): Promise<number> {
  const place = showDatabase(address);
  const reopened = await removeMark(address);
  if (json) printJson({ place, reopened });
  else print(reopened ? `a bot can use ${place} again` : `${place} was not copied`);
  return 0;
}

async function removeMark(address: DatabaseAddress): Promise<boolean> {
  if (address.kind === "postgres") {
    const { reopenDatabase } = await import("../../inbox/postgres/copy.ts");
    return await reopenDatabase({ url: address.url, schema: schema() });
  }
  const { CopySource } = await import("../../inbox/sqlite/copy.ts");
  const source = new CopySource(address.file);
  try {
    return source.reopen();
  } finally {
    source.close();
  }
}

function addressIn(given: CopyFlags, name: "from" | "to"): DatabaseAddress | undefined {
  const text = given[name];
  if (text === undefined) return undefined;
  const problem = databaseProblem(text);
  if (problem !== undefined) throw new UsageError(`--${name} ${problem}.`);
  return readDatabase(text);
}

function sourceFile(from: DatabaseAddress = loadDatabase(process.env).database): string {
  if (from.kind === "sqlite" && from.file !== ":memory:") return from.file;
  throw new UsageError(
    "--from takes a file, such as file:data/bot.db. For PostgreSQL use pg_dump and pg_restore.",
  );
}

function targetUrl(to: DatabaseAddress | undefined): string {
  if (to === undefined && variable("DATABASE_URL") === undefined) {
    throw new UsageError("Use --to, or set DATABASE_URL.");
  }
  const address = to ?? loadDatabase(process.env).database;
  if (address.kind === "postgres") return address.url;
  throw new UsageError(
    "--to takes a postgres:// URL. For another file use `npx service-bot inbox backup` and `restore`.",
  );
}

function schema(): string {
  return loadDatabase({ DATABASE_SCHEMA: process.env["DATABASE_SCHEMA"] }).databaseSchema;
}
