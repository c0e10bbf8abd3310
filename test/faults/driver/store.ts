import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Database } from "better-sqlite3";
import { lookInto } from "../../support/sqlite.ts";
import type { BotSettings } from "../bot/protocol.ts";
import type { Counters } from "../bot/state-and-time.ts";
import type { Contents, Stored } from "./checker.ts";
import type { States } from "./counters.ts";
import type { OwnEvent } from "./timers.ts";

export interface Progress {
  readonly stored: number;
  readonly pending: number;
  /** Number of lanes with pending events that no bot can ever claim. */
  readonly stranded?: number;
  /** Number of lanes whose counter differs from their number of pending events. */
  readonly miscounted?: number;
}

/** States, timers and the events of timers, which the handlers of other events leave behind. */
export interface Layer {
  readonly states: States;
  readonly timers: readonly string[];
  readonly ownEvents: readonly OwnEvent[];
}

export interface Audit {
  readonly figures: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
}

const STORED = "SELECT id, state, attempts, error, source FROM event";
const STATES = "SELECT key, value FROM state";
const TIMERS = "SELECT key FROM timer";
const OWN_EVENTS = `SELECT id, type, state, body, received_at AS "receivedAt" FROM event
WHERE type LIKE 'timer:%' OR type LIKE 'cron:%' ORDER BY seq`;

/** The bots' inbox, as the driver sees it from outside. Both databases use the same names of tables and columns. */
export abstract class Store {
  /** Environment variables that select this inbox. */
  abstract readonly env: Readonly<Record<string, string>>;
  readonly settings: Partial<BotSettings> = {};

  /** Resolves to `undefined` while the inbox does not exist. */
  abstract progress(): Promise<Progress | undefined>;
  /** Resolves to those of the ids that are not in the inbox. */
  abstract missing(ids: readonly string[]): Promise<readonly string[]>;
  protected abstract rows<Row>(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  protected abstract integrity(): Promise<string>;

  async contents(): Promise<Contents> {
    return { stored: await this.rows<Stored>(STORED), integrity: await this.integrity() };
  }

  async layer(): Promise<Layer> {
    const states = await this.rows<{ readonly key: string; readonly value: string }>(STATES);
    const timers = await this.rows<{ readonly key: string }>(TIMERS);
    const events = await this.rows<Omit<OwnEvent, "dueAt" | "number"> & { readonly body: string }>(
      OWN_EVENTS,
    );
    return {
      states: new Map(states.map(({ key, value }): [string, Counters] => [key, JSON.parse(value)])),
      timers: timers.map(({ key }) => key),
      ownEvents: events.map(({ body, ...event }) => ({ ...event, ...dueOf(body) })),
    };
  }

  /** Returns one line per unfinished lane, for failure reports. */
  async unfinished(): Promise<readonly string[]> {
    return [];
  }

  /** Checks what happened in the inbox during the whole run. */
  async audit(): Promise<Audit> {
    return { figures: {}, violations: [] };
  }

  async close(): Promise<void> {}
}

function dueOf(body: string): Pick<OwnEvent, "dueAt" | "number"> {
  const { payload }: Body = JSON.parse(body);
  return { dueAt: Date.parse(payload.dueAt), number: payload.data?.number };
}

interface Body {
  readonly payload: { readonly dueAt: string; readonly data?: { readonly number: number } };
}

const READ = { readonly: true, fileMustExist: true } as const;

const PROGRESS =
  "SELECT count(*) AS stored, count(*) FILTER (WHERE state = 'pending') AS pending FROM event";

const MISSING = "SELECT value AS id FROM json_each(?) WHERE value NOT IN (SELECT id FROM event)";

export class SqliteStore extends Store {
  #folder: string;
  #polling: Database | undefined;

  constructor(folder: string) {
    super();
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

  /** Keeps the file open, because polling must not slow down the platform in this process. */
  async progress(): Promise<Progress | undefined> {
    try {
      this.#polling ??= new Sqlite(this.file, READ);
      return this.#polling.prepare<[], Progress>(PROGRESS).get();
    } catch {
      await this.close();
      return undefined;
    }
  }

  async missing(ids: readonly string[]): Promise<readonly string[]> {
    if (ids.length === 0) return [];
    const rows = await this.rows<{ readonly id: string }>(MISSING, [JSON.stringify(ids)]);
    return rows.map(({ id }) => id);
  }

  /** Deletes the folder, and continues in an empty one. */
  async moveTo(folder: string): Promise<void> {
    await this.close();
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(folder);
    this.#folder = folder;
  }

  override async close(): Promise<void> {
    this.#polling?.close();
    this.#polling = undefined;
  }

  /**
   * Reads while the bot is writing. Leaves no connection open, because that would spare the next bot the recovery after
   * a kill.
   */
  protected async rows<Row>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    await this.close();
    return lookInto(this.file, (db) => db.prepare<unknown[], Row>(sql).all(...values), READ);
  }

  protected async integrity(): Promise<string> {
    const check = (db: Database) => String(db.pragma("integrity_check", { simple: true }));
    return lookInto(this.file, check, READ);
  }
}
