import type { Database } from "better-sqlite3";
import { invalid, type PlatformError } from "../error.ts";
import { MEMORY, openBytes, openDatabase } from "./database.ts";
import { checkReferences, schemaOf, withoutWal } from "./rows.ts";
import { Store } from "./store.ts";
import { faultOf, UnusableFile } from "./unusable.ts";

/** Opens a copy that this process has made (`Store.copy`): in memory, apart from everything else. */
export function openCopy(copy: Uint8Array): Store {
  return new Store(openBytes(copy));
}

/**
 * Opens a snapshot: in memory, apart from everything else, brought up to date. A snapshot may come from
 * anywhere, so it is looked at from all sides before anything is done with it.
 *
 * @throws {PlatformError} 400 VALIDATION: it is no snapshot, damaged, or of a newer version
 */
export function openSnapshot(file: Uint8Array): Store {
  let store: Store | undefined;
  try {
    const db = openBytes(withoutWal(file), checkIntegrity);
    try {
      if (!isSchema(schemaOf(db))) throw new UnusableFile("foreign");
      checkReferences(db);
      store = new Store(db);
    } catch (error) {
      db.close();
      throw error;
    }
    // A state that was never seeded has neither.
    store.webhook.get(store.people.bot().seq);
    return store;
  } catch (error) {
    store?.close();
    throw refusal(error);
  }
}

function checkIntegrity(db: Database): void {
  if (db.pragma("integrity_check(1)", { simple: true }) !== "ok") throw new UnusableFile("damaged");
}

function isSchema(found: readonly string[]): boolean {
  const fresh = openDatabase(MEMORY);
  try {
    const known = schemaOf(fresh);
    return found.length === known.length && known.every((item, index) => item === found[index]);
  } finally {
    fresh.close();
  }
}

function refusal(error: unknown): PlatformError {
  const take = "download one with GET /control/v1/snapshots/:id/file";
  switch (faultOf(error)) {
    case "newer":
      return invalid("The snapshot was made by a newer version of service-bot: update this one.");
    case "no SQLite file":
      return invalid(`This is no snapshot, as it is no SQLite file: ${take}, and send its bytes.`);
    case "damaged":
      return invalid(`The snapshot is damaged: ${take} again.`);
    default:
      return invalid(`This SQLite file is no snapshot of a platform: ${take}.`);
  }
}
