import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { hasCode, ServiceBotError } from "../../errors.ts";

/** The parts of `pg` that are used here. */
export interface Connection {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: Row[] }>;
  on(event: "error" | "end" | "notification", listener: (what: unknown) => void): unknown;
  off(event: "error", listener: (what: unknown) => void): unknown;
}

export interface PooledConnection extends Connection {
  /** @param broken true: it is closed, and not given to anybody else */
  release(broken?: boolean): void;
}

export interface Pool {
  connect(): Promise<PooledConnection>;
  on(event: "error", listener: (what: unknown) => void): unknown;
  /** Told of each new connection, before anybody gets it. */
  on(event: "connect", listener: (connection: Connection) => void): unknown;
  end(): Promise<void>;
}

export interface Client extends Connection {
  /** Of the session, as the server said when it began. */
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
  /** How long an answer may take: a connection that is half-open would be waited on for minutes. */
  readonly query_timeout: number;
  readonly types: Types;
  readonly keepAlive: true;
  readonly keepAliveInitialDelayMillis: number;
  /** Makes what a connection runs over. It is not connected yet. */
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

/** Counts, positions and times all fit into a number. Everything else comes as it would in any case. */
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
