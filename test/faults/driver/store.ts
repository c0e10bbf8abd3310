import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import type { BotSettings } from "../bot/protocol.ts";
import type { Contents, Stored } from "./checker.ts";
import { type Layer, readLayer } from "./layer.ts";

export interface Progress {
  readonly stored: number;
  readonly pending: number;
  /** Number of lanes with pending events that no bot can ever claim. */
  readonly stranded?: number;
  /** Number of lanes whose counter differs from their number of pending events. */
  readonly miscounted?: number;
}

export interface Audit {
  readonly figures: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

export interface Store {
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Partial<BotSettings>;
  /** Resolves to `undefined` while the inbox does not exist. */
  progress(): Promise<Progress | undefined>;
  missing(ids: readonly string[]): Promise<string[]>;
  contents(): Promise<Contents>;
  layer(): Promise<Layer>;
  /** Returns one line per unfinished lane, for failure reports. */
  unfinished(): Promise<string[]>;
  audit(): Promise<Audit>;
  close(): Promise<void>;
}

export class SqliteStore implements Store {
  readonly settings: Partial<BotSettings> = {};
  #folder: string;
  #db: Database | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  get folder(): string {
    return this.#folder;
  }

  get file(): string {
    return join(this.#folder, "bot.db");
  }

  get env(): Record<string, string> {
    return { DATABASE_URL: `file:${this.file}` };
  }

  /** Reads while the bot is writing, which WAL mode allows. */
  async progress(): Promise<Progress | undefined> {
    try {
      this.#db ??= new Sqlite(this.file, { readonly: true, fileMustExist: true });
      const row: unknown = this.#db
        .prepare(
          "SELECT count(*) AS stored, count(*) FILTER (WHERE state = 'pending') AS pending FROM event",
        )
        .get();
      return row as Progress;
    } catch {
      await this.close();
      return undefined;
    }
  }

  async missing(ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    return this.#read((db) => {
      const unknown = "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM event)";
      return db.prepare<[string], string>(unknown).pluck().all(JSON.stringify(ids));
    });
  }

  async contents(): Promise<Contents> {
    return this.#read((db) => ({
      stored: db.prepare<[], Stored>("SELECT id, state, attempts, error, source FROM event").all(),
      integrity: String(db.pragma("integrity_check", { simple: true })),
    }));
  }

  async layer(): Promise<Layer> {
    return await readLayer(async (sql) => this.#read((db) => db.prepare<[], never>(sql).all()));
  }

  async unfinished(): Promise<string[]> {
    return [];
  }

  async audit(): Promise<Audit> {
    return { figures: {}, violations: [] };
  }

  async moveTo(folder: string): Promise<void> {
    await this.close();
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(folder);
    this.#folder = folder;
  }

  async close(): Promise<void> {
    this.#db?.close();
    this.#db = undefined;
  }

  #read<T>(look: (db: Database) => T): T {
    this.#db?.close();
    this.#db = undefined;
    const db = new Sqlite(this.file, { readonly: true, fileMustExist: true });
    try {
      return look(db);
    } finally {
      db.close();
    }
  }
}
