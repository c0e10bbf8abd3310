import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { markError, notEmpty } from "../copy/mark.ts";
import type { CopyTarget } from "../copy/stores.ts";
import { tables } from "../copy/tables.ts";
import { openExisting } from "./attach.ts";
import { clearMark, readMark, setMark } from "./copy-mark.ts";
import { CopyRows } from "./copy-rows.ts";
import { placeOfFile } from "./copy-source.ts";
import { readStore } from "./group-commit.ts";
import { type OpenFile, openMarkedFile } from "./open.ts";

/** The file of an inbox that is to be made by a copy. Nothing is made or locked before the copy begins. */
export function openSqliteTarget(file: string): CopyTarget {
  let opened: OpenFile | undefined;
  const open = (): OpenFile => {
    opened ??= openMarkedFile(file);
    return opened;
  };
  const db = () => open().db;
  const write = (work: () => void) => readStore(() => db().transaction(work).immediate());
  const look = <T>(look: (db: Database) => T, missing: T): T => {
    if (opened !== undefined) return readStore(() => look(db()));
    if (!existsSync(file)) return missing;
    const existing = openExisting(file);
    try {
      return readStore(() => look(existing));
    } finally {
      existing.close();
    }
  };
  const obstacle = (from: string) =>
    look((existing) => obstacleIn(existing, from, placeOfFile(file)), undefined);
  return {
    place: placeOfFile(file),
    now: async () => Date.now(),
    count: async (table) => readStore(() => new CopyRows(db()).count(table)),
    read: (table) => new CopyRows(db()).read(table),
    obstacle: async (from) => obstacle(from),
    unfinished: async () => look((existing) => readMark(existing)?.role === "target", false),
    async begin(from) {
      open();
      write(() => {
        const problem = obstacle(from);
        if (problem !== undefined) throw problem;
        setMark(db(), { role: "target", other: from, run: randomUUID() });
        new CopyRows(db()).clear(tables);
      });
    },
    write: async (table, rows) => write(() => new CopyRows(db()).write(table, rows)),
    finish: async () => write(() => clearMark(db())),
    close: async () => opened?.close(),
  };
}

function obstacleIn(db: Database, from: string, place: string): Error | undefined {
  const mark = readMark(db);
  if (mark?.role === "target" && mark.other === from) return undefined;
  if (mark !== undefined) return markError(mark, place);
  if (new CopyRows(db).isEmpty(tables)) return undefined;
  return notEmpty(place, "Copy to a file that is not there yet.");
}
