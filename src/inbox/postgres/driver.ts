import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type CertificateFault, certificateFaultOf } from "../../core/certificate.ts";
import { codeOf, hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import type { StoreFailure } from "../../observe/channels.ts";

/** Adapter for the `pg` package: the interfaces that the bot uses, and errors. */

export interface Connection {
  /** Session id that the server sent on connecting. */
  readonly processID?: number | null;
  query(text: string, values?: unknown[]): Promise<Result>;
  on(event: "error" | "end" | "notification", listener: (what: unknown) => void): unknown;
  off(event: "error", listener: (what: unknown) => void): unknown;
}

export interface Result {
  readonly rows: Row[];
  /** Number of rows read or written. */
  readonly rowCount?: number | null;
}

export interface PooledConnection extends Connection {
  /** @param broken true closes the connection instead of returning it to the pool */
  release(broken?: boolean): void;
}

export interface Pool {
  connect(): Promise<PooledConnection>;
  on(event: "error", listener: (what: unknown) => void): unknown;
  /** Called with each new connection before its first use. */
  on(event: "connect", listener: (connection: Connection) => void): unknown;
  end(): Promise<void>;
}

export interface Client extends Connection {
  connect(): Promise<unknown>;
  /** Allows the process to exit while connected. */
  unref?(): void;
  end(): Promise<void>;
}

export type Row = Record<string, unknown>;

/** Finds the parser for a type's text values. */
export interface Types {
  getTypeParser(oid: number, format?: string): (text: string) => unknown;
}

export interface ClientSettings {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  /** Time limit for a response, in ms. Without it, a half-open connection would block for minutes. */
  readonly query_timeout: number;
  readonly types: Types;
  readonly keepAlive: true;
  readonly keepAliveInitialDelayMillis: number;
  /** Creates the unconnected socket for a connection. */
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
 * @throws {ServiceBotError} DRIVER_MISSING, with the package to install
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
      'DATABASE_URL points to PostgreSQL, but the package "pg" is not installed. Run `npm install pg`.',
      { cause: error },
    );
  }
}

/** Names the strictest TLS mode explicitly. Otherwise, the driver maps three looser modes to it and logs a warning. */
export function withStrictTls(url: string): string {
  const parsed = new URL(url);
  const { searchParams } = parsed;
  if (searchParams.has("uselibpqcompat")) return url;
  if (!/^(prefer|require|verify-ca)$/.test(searchParams.get("sslmode") ?? "")) return url;
  searchParams.set("sslmode", "verify-full");
  return parsed.href;
}

const INT8 = 20;

/** Parses 64-bit integers as numbers. Leaves all other types to the driver. */
export function numbersFor(types: Types): Types {
  return {
    getTypeParser: (oid, format) => (oid === INT8 ? Number : types.getTypeParser(oid, format)),
  };
}

/** Sockets of all connections to a database, so that unresponsive connections can be destroyed. */
export class Sockets {
  readonly #open = new Set<Socket>();
  #cut = false;

  /** Creates a socket for the driver to connect. */
  make(): Socket {
    const socket = new Socket();
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    // Destroy the socket only once the driver has it. The driver would connect a socket that was destroyed earlier.
    if (this.#cut) setImmediate(() => socket.destroy());
    return socket;
  }

  /** Destroys all sockets, including those created later, so that pending statements fail at once. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#open) socket.destroy();
  }
}

/**
 * Returns whether an error came from the server and the connection still works. Server errors have five-character
 * codes. None begins with E, as Node's codes do, such as EPIPE.
 */
export function isOfTheServer(error: unknown): boolean {
  if (error instanceof ServiceBotError) return true;
  const code = codeOf(error);
  // After 57P01 to 57P05, the server closes the connection, because it stops or starts, or the session was idle for too
  // long. After 25P03 and 25P04, a transaction was. After class 08, a pooler has lost its own connection to the server.
  return /^[0-9A-DF-Z][0-9A-Z]{4}$/.test(code) && !/^(57P|25P0[34]|08)/.test(code);
}

/** Classifies an error thrown by the driver. */
export function failureOf(error: unknown): StoreFailure {
  if (codeOf(error) === DISK_FULL) return "disk_full";
  return isOfTheServer(error) ? "broken" : "away";
}

/**
 * Converts driver errors to STORE_UNAVAILABLE and keeps ServiceBotErrors. Drops the cause, because it may quote stored
 * data.
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

/** Remedies for common errors, by Node or PostgreSQL error code. */
const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: `Start PostgreSQL, ${CORRECT}`,
  ENOTFOUND: NO_HOST,
  EAI_AGAIN: NO_HOST,
  "28P01": "Correct the password in DATABASE_URL or PGPASSWORD.",
  "28000": `Allow the bot in the server's pg_hba.conf, ${CORRECT}`,
  "3D000": `Create the database (createdb), ${CORRECT}`,
  [DISK_FULL]: "Free space on the database's disk.",
};

const CA = "Name the file of its authority's certificate in DATABASE_URL: &sslrootcert=ca.pem.";

const certificateRemedies: Readonly<Record<CertificateFault, string>> = {
  expired: "Renew the server's certificate, or correct this machine's clock.",
  early: "Correct this machine's clock, or the server's certificate.",
  name: "Use one of the certificate's names in DATABASE_URL.",
  "self-signed": CA,
  issuer: CA,
};

function remedyOf(error: unknown): string {
  // If the server requires a password and none is set, the driver's error has no code.
  const asked = messageOf(error).startsWith("SASL");
  const code = codeOf(error);
  const fault = certificateFaultOf(code);
  const remedy = asked
    ? "Set the password in DATABASE_URL or PGPASSWORD."
    : fault === undefined
      ? remedies[code]
      : certificateRemedies[fault];
  return remedy === undefined ? "" : ` ${remedy}`;
}
