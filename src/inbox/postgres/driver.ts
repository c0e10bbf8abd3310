import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { hasCode, ServiceBotError } from "../../errors.ts";

/** The parts of `pg` in use. */
export interface Connection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
  on(event: "error" | "end" | "notification", listener: (what: unknown) => void): unknown;
  off(event: "error", listener: (what: unknown) => void): unknown;
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
      'DATABASE_URL names PostgreSQL, and the package "pg" is not installed. Run: npm install pg',
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
