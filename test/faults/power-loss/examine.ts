import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { SqliteInbox } from "../../faces/inbox-sqlite.ts";
import { lookInto } from "../../support/sqlite.ts";
import type { Image } from "./disk.ts";
import type { Delivery } from "./run.ts";

/** Everything sent and acknowledged before the power loss. */
export interface Known {
  readonly acknowledged: Delivery[];
  readonly requested: string[];
  readonly sent: readonly Delivery[];
}

export interface Examined {
  readonly lost: number;
  readonly wrong: readonly string[];
}

export async function examine(image: Image, known: Known, scratch: string): Promise<Examined> {
  const folder = mkdtempSync(join(scratch, "image-"));
  try {
    for (const [name, bytes] of image) {
      // Leave out the WAL index (-shm), because the first process to open the file rebuilds it.
      if (!name.endsWith("-shm")) writeFileSync(join(folder, name), bytes);
    }
    const file = join(folder, "bot.db");
    const inbox = new SqliteInbox({ file });
    await inbox.close();
    return lookInto(file, (db) => look(db, known), { readonly: true });
  } catch (error) {
    return { lost: 0, wrong: [`the file cannot be opened: ${String(error)}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function look(db: Database, { acknowledged, requested, sent }: Known): Examined {
  const wrong: string[] = [];
  const integrity = db.pragma("integrity_check", { simple: true });
  if (integrity !== "ok") wrong.push(`integrity_check says ${String(integrity)}`);
  const stored = new Set(db.prepare("SELECT id FROM event").pluck().all());
  const lost = acknowledged.flatMap(({ ids }) => ids).filter((id) => !stored.has(id));
  if (lost.length > 0) {
    wrong.push(`${lost.length} acknowledged events are lost: ${lost.slice(0, 5).join(" ")}`);
  }
  const intents = new Set(db.prepare("SELECT event_id FROM step").pluck().all());
  const forgotten = requested.filter((id) => !intents.has(id));
  if (forgotten.length > 0) {
    wrong.push(`${forgotten.length} replies were sent but their intents are lost: ${forgotten[0]}`);
  }
  for (const { ids } of sent) {
    const there = ids.filter((id) => stored.has(id)).length;
    if (there > 0 && there < ids.length) wrong.push(`half of a batch: ${ids.join(" ")}`);
  }
  return { lost: lost.length, wrong };
}
