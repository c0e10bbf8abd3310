import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Sqlite, { type Database } from "better-sqlite3";
import { openFile } from "../../src/inbox/sqlite/open.ts";

export interface History {
  readonly done: number;
  /** Pending events are newer than the done events. */
  readonly pending: number;
}

/** Events per conversation. They alternate: `evt_000000000001` belongs to `c_0`, the next event to `c_1`, and so on. */
const EVENTS_OF_A_LANE = 25;

export function lanesOf({ done, pending }: History): number {
  return Math.ceil((done + pending) / EVENTS_OF_A_LANE);
}

const CACHE = new URL("../../node_modules/.cache/service-bot-bench/", import.meta.url);

/** Files that define the content. If any of them changes, the cached file is created again. */
const SOURCES = [new URL("../../src/inbox/sqlite/sql/", import.meta.url), import.meta.url];

/**
 * Copies a file with this history to `target`, replacing any existing file. The original is created once and cached
 * until the schema changes.
 */
export function copyHistory(history: History, target: string): void {
  const source = historyFile(history);
  removeDatabase(target);
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
  // Flush the copy, because the disk would otherwise still be writing during the measurement.
  const file = openSync(target, "r+");
  fsyncSync(file);
  closeSync(file);
}

function historyFile(history: History): string {
  const made = hashOf(SOURCES.flatMap(filesIn));
  const folder = fileURLToPath(new URL(`${made}/`, CACHE));
  const { done, pending } = history;
  const file = join(folder, `${done}-done-${pending}-pending.db`);
  if (existsSync(file)) return file;
  dropOthers(made);
  mkdirSync(folder, { recursive: true });
  const part = `${file}.part`;
  removeDatabase(part);
  makeHistory(part, history);
  renameSync(part, file);
  rmSync(`${part}-lock`, { force: true });
  return file;
}

/** Writes a history with the current schema. Writes in bulk, because handling the events would take hours. */
function makeHistory(file: string, history: History): void {
  openFile(file).close();
  const db = new Sqlite(file);
  db.pragma("journal_mode = OFF");
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -262144");
  db.transaction(() => {
    addEvents(db, history);
    addLanes(db);
  })();
  // The inbox's journal mode. The inbox sets the other pragmas itself when it opens the file.
  db.pragma("journal_mode = WAL");
  db.close();
}

/** Writes events half a second apart, ending at 2026-01-01. Each body has about 300 bytes. */
function addEvents(db: Database, history: History): void {
  const { done, pending } = history;
  const all = done + pending;
  const lanes = lanesOf(history);
  if (all === 0) return;
  const excerpt = "hello, is anybody there? ".repeat(5);
  db.exec(
    `INSERT INTO event (seq, id, lane, ord, type, body, source, state, attempts, fence, received_at, done_at)
     WITH RECURSIVE
       counter (nth) AS (SELECT 1 UNION ALL SELECT nth + 1 FROM counter WHERE nth < ${all}),
       named AS (
         SELECT nth, format('evt_%012d', nth) AS id, 'c_' || ((nth - 1) % ${lanes}) AS lane,
           nth <= ${done} AS ended, 1767225600000 - (${all} - nth) * 500 AS at
         FROM counter)
     SELECT nth, id, 'dm:' || lane, '~' || id, 'dm.message',
       '{"id":"' || id || '","type":"dm.message","payload":{"conversationId":"' || lane ||
         '","from":{"userId":"u_2","username":"ada","name":"Ada"},"excerpt":"${excerpt}"},' ||
         '"createdAt":"2026-01-01T00:00:00.000Z"}',
       'webhook', iif(ended, 'done', 'pending'), ended, iif(ended, 1 + (nth - 1) / ${lanes}, 0),
       at, iif(ended, at + 25, NULL)
     FROM named`,
  );
}

/** Writes the lanes and the cursors as if the events had been handled. */
function addLanes(db: Database): void {
  db.exec(
    `INSERT INTO lane (key, ready_at, done_ord, done_at)
     SELECT lane, max(received_at) FILTER (WHERE state = 'pending'), max(ord) FILTER (WHERE state = 'done'), max(done_at)
     FROM event GROUP BY lane HAVING sum(state = 'pending') > 0`,
  );
  db.exec(
    `INSERT INTO resting_lane (key, done_ord, done_at)
     SELECT lane, max(ord), max(done_at) FROM event GROUP BY lane HAVING sum(state = 'pending') = 0`,
  );
  db.exec(
    `UPDATE cursor SET position = (
       SELECT 1 + coalesce(iif(name = 'fence', max(fence), max(done_at)), 0) FROM event
     ) WHERE name IN ('fence', 'lanes')`,
  );
}

function dropOthers(made: string): void {
  if (!existsSync(CACHE)) return;
  for (const name of readdirSync(CACHE)) {
    if (name !== made) rmSync(new URL(name, CACHE), { recursive: true });
  }
}

function removeDatabase(file: string): void {
  for (const end of ["", "-wal", "-shm", "-lock", "-journal"]) rmSync(file + end, { force: true });
}

function filesIn(source: URL | string): string[] {
  const path = fileURLToPath(source);
  if (!path.endsWith("/")) return [path];
  return readdirSync(path)
    .sort()
    .map((name) => join(path, name));
}

function hashOf(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 12);
}
