import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { codeOf, hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import type { StoreFailure } from "../../observe/channels.ts";

/**
 * The package `pg`: the parts in use, the texts that a server can store, and its errors.
 */

/** A connection. */
export interface Connection {
  query(text: string, values?: unknown[]): Promise<Result>;
  on(event: "error" | "end" | "notification", listener: (what: unknown) => void): unknown;
  off(event: "error", listener: (what: unknown) => void): unknown;
}

export interface Result {
  readonly rows: Row[];
  /** The rows that were read or written. */
  readonly rowCount?: number | null;
}

export interface PooledConnection extends Connection {
  /** @param broken closes it, and the pool does not use it again */
  release(broken?: boolean): void;
}

export interface Pool {
  connect(): Promise<PooledConnection>;
  on(event: "error", listener: (what: unknown) => void): unknown;
  /** Called with each new connection, before it is used. */
  on(event: "connect", listener: (connection: Connection) => void): unknown;
  end(): Promise<void>;
}

export interface Client extends Connection {
  /** The id of the session, as the server said when it began. */
  readonly processID?: number | null;
  connect(): Promise<unknown>;
  /** Lets the process end although it is connected. */
  unref?(): void;
  end(): Promise<void>;
}

export type Row = Record<string, unknown>;

/** Reads the values of a type from the text in which they come. */
export interface Types {
  getTypeParser(oid: number, format?: string): (text: string) => unknown;
}

export interface ClientSettings {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  /** The time for an answer, in ms: a half-open connection would be waited on for minutes. */
  readonly query_timeout: number;
  readonly types: Types;
  readonly keepAlive: true;
  readonly keepAliveInitialDelayMillis: number;
  /** Makes the socket of a connection. It is not connected yet. */
  readonly stream: () => Duplex;
}

export interface PoolSettings extends ClientSettings {
  readonly max: number;
  readonly idleTimeoutMillis: number;
  readonly allowExitOnIdle: true;
}

export interface Driver {
  readonly Pool: new (settings: PoolSettings) => Pool;
  readonly Client: new (settings: ClientSettings) => Client;
  readonly types: Types;
}

/**
 * Loads `pg`, which only bots on PostgreSQL need.
 *
 * @throws {ServiceBotError} DRIVER_MISSING, with what to install
 */
export async function loadDriver(
  load: () => Promise<{ readonly default: Driver }> = () => import("pg"),
): Promise<Driver> {
  try {
    return (await load()).default;
  } catch (error) {
    if (!hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    throw new ServiceBotError(
      "DRIVER_MISSING",
      'DATABASE_URL names PostgreSQL, but the package "pg" is not installed. Run `npm install pg`.',
      { cause: error },
    );
  }
}

const INT8 = 20;

/** Parses counts, positions and times as numbers, and everything else as the driver does. */
export function numbersFor(types: Types): Types {
  return {
    getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)),
  };
}

/** The sockets of all connections to a database, so that a connection without an answer can be cut. */
export class Sockets {
  readonly #open = new Set<Socket>();
  #cut = false;

  /** A socket that the driver connects. */
  make(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    // Once the driver has it, because the driver would connect a destroyed one all the same.
    if (this.#cut) setImmediate(() => socket.destroy());
    return socket;
  }

  /** Cuts all sockets, also those made later: what waits for them fails at once. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#open) socket.destroy();
  }
}

/**
 * PostgreSQL refuses the character NUL, and UTF-8 has no halves of characters (lone surrogates). One of them in the name of
 * a lane would fail its whole batch for ever. Both are stored as an escape, which begins with a control character that
 * texts hardly have, and that is doubled if they have it.
 */
const ESCAPE = "\u001a";

/** Characters that cannot be stored. With the flag "u" a pair of surrogates is one character, and stays. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSTORABLE = /[\0\u001a\ud800-\udfff]/gu;

function toStored(text: string): string {
  // Nearly all texts can be stored, and this search is cheaper.
  if (text.isWellFormed() && !text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replace(UNSTORABLE, (character) =>
    character === ESCAPE
      ? ESCAPE + ESCAPE
      : `${ESCAPE}${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for.
  return text.replace(/\u001a(\u001a|[0-9a-f]{4})/g, (_, rest: string) =>
    rest === ESCAPE ? ESCAPE : String.fromCharCode(Number.parseInt(rest, 16)),
  );
}

/** Values of a statement: texts and lists of texts are escaped, and the others pass through. */
export function packValues(values: readonly unknown[]): unknown[] {
  return values.map((value) => (Array.isArray(value) ? value.map(pack) : pack(value)));
}

function pack(value: unknown): unknown {
  return typeof value === "string" ? toStored(value) : value;
}

/** Changes the row in place, because the driver has made it for this call alone. */
export function unpackRow(row: Record<string, unknown>): Record<string, unknown> {
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") row[name] = fromStored(value);
  }
  return row;
}

/** True for an error that the server reports and after which the connection goes on. Its code has five characters. */
export function isOfTheServer(error: unknown): boolean {
  if (error instanceof ServiceBotError) return true;
  const code = codeOf(error);
  // 57P01 to 57P03: the server stops or starts, and takes the connection with it. Class 08: a pooler has lost its own.
  return /^[0-9A-Z]{5}$/.test(code) && !/^(57P|08)/.test(code);
}

/** The kind of a failure that the driver throws. */
export function failureOf(error: unknown): StoreFailure {
  if (codeOf(error) === DISK_FULL) return "disk_full";
  return isOfTheServer(error) ? "broken" : "away";
}

/**
 * Makes STORE_UNAVAILABLE of everything that the driver throws; the project's own errors stay as they are. The cause is
 * left out, because the server quotes in it what was to be stored.
 */
export function asStoreError(error: unknown): ServiceBotError {
  if (error instanceof ServiceBotError) return error;
  const code = codeOf(error);
  const why = messageOf(error) || code;
  return new ServiceBotError(
    "STORE_UNAVAILABLE",
    `Cannot use the inbox in PostgreSQL: ${why}${code === "" || why === code ? "" : ` (${code})`}.${remedyOf(error)}`,
  );
}

const CORRECT = "or correct DATABASE_URL.";
const DISK_FULL = "53100";
const NO_HOST = "The host name is unknown. Correct DATABASE_URL.";

/** Remedies for the usual errors, by the codes of Node and of PostgreSQL. */
const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: `Start PostgreSQL, ${CORRECT}`,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
  "28P01": "Correct the password in DATABASE_URL or PGPASSWORD.",
  "28000": `Allow the bot in the server's pg_hba.conf, ${CORRECT}`,
  "3D000": `Create the database (createdb), ${CORRECT}`,
  [DISK_FULL]: "Free space on the database's disk.",
};

function remedyOf(error: unknown): string {
  // The driver has no code for a server that asks for a password when there is none.
  const asked = messageOf(error).startsWith("SASL");
  const remedy = asked
    ? "Set the password in DATABASE_URL or PGPASSWORD."
    : remedies[codeOf(error)];
  return remedy === undefined ? "" : ` ${remedy}`;
}
