import type { Socket } from "node:net";
import { hasCode, ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import type { StorageReport } from "../admin.ts";
import type { Dialect, Script, SqlStore } from "../sql/store.ts";
import { packValue, unpackRow } from "../stored-text.ts";
import { dialect } from "./dialect.ts";
import {
  asStoreError,
  type Client,
  type ClientSettings,
  type Connection,
  type Driver,
  failureOf,
  isOfTheServer,
  numbersFor,
  type Pool,
  type Result,
  Sockets,
  withStrictTls,
} from "./driver.ts";
import { settle, settleTransaction, TIMEOUT_MS } from "./session.ts";

export interface DatabaseOptions {
  readonly driver: Driver;
  /** The `postgres://` URL. Logs and errors never contain its password. */
  readonly url: string;
  /** Name of the schema that contains the tables. */
  readonly schema: string;
  /** Replaces the database's clock in tests. Returns ms since 1970. */
  readonly now?: (() => number) | undefined;
  /** Time limit for connecting and for a response, in ms. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * When aborted, fails current and later statements, so that a stopping process does not wait for a server that is
   * down.
   */
  readonly deadline?: AbortSignal | undefined;
  /** Maximum number of pooled connections. Listening uses one more connection. Default 10. */
  readonly connections?: number | undefined;
  /** Called with each statement in tests. Each statement is one round trip. */
  readonly onStatement?: ((text: string, values: readonly unknown[]) => void) | undefined;
  /** The bot named in channel messages. */
  readonly bot?: object | undefined;
}

/** Any object that runs single statements. */
export type Queries = Pick<SqlStore, "rows">;

const CONNECTIONS = 10;

/** Time limit for closing a connection gracefully, in ms. */
const END_MS = 1_000;

/** Time after which an idle connection is closed, in ms. */
const IDLE_MS = 30_000;

/** Idle time after which TCP sends a keep-alive probe, in ms. */
const KEEP_ALIVE_MS = 10_000;

/**
 * The statement's start time, which is the same for all rows. A subquery runs once and can use an index. A plain
 * expression would be computed for each row.
 */
const NOW = "(SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/**
 * Makes the server end the session of a process that stalls inside a transaction, because the transaction would keep
 * its locks. The settings are those of a single transaction, because a pooler may run the next one in another session.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL idle_in_transaction_session_timeout = 15000`;

const BYTES = `
SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint AS bytes FROM pg_class
WHERE relnamespace = to_regnamespace('{schema}') AND relkind = 'r'`;

/**
 * Runs statements on a database's connections. Statements contain `{schema}` instead of relying on a search path,
 * because a search path is session state.
 */
export class Database implements SqlStore {
  readonly dialect: Dialect = dialect;
  readonly #options: DatabaseOptions;
  readonly #settings: ClientSettings;
  readonly #pool: Pool;
  readonly #texts = new Map<string, string>();
  readonly #sockets = new Sockets();
  /** Sockets of connections outside the pool. */
  readonly #own = new WeakMap<Client, Socket>();
  /** Connections whose settings have been checked. */
  readonly #settled = new WeakSet<Connection>();
  readonly #timeoutMs: number;
  #isPooled = false;
  /** True once a shared session lacks settings. Every statement then runs in a transaction that sets them. */
  #settlesEach = false;
  #closed = false;

  constructor(options: DatabaseOptions) {
    const { driver, url, schema, timeoutMs = TIMEOUT_MS, connections = CONNECTIONS } = options;
    options.deadline?.addEventListener("abort", () => this.#sockets.cut(), { once: true });
    this.#options = options;
    this.#timeoutMs = timeoutMs;
    this.#settings = {
      connectionString: withStrictTls(url),
      application_name: `service-bot ${schema}`,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      types: numbersFor(driver.types),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      stream: () => this.#sockets.make(),
    };
    this.#pool = new driver.Pool({
      ...this.#settings,
      max: connections,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // An idle connection broke. The next statement opens a new one.
    this.#pool.on("error", () => undefined);
    // The server may close a connection before the pool hands it out. Without a listener, the error would end the
    // process.
    this.#pool.on("connect", (connection) => connection.on("error", () => undefined));
  }

  get schema(): string {
    return this.#options.schema;
  }

  /** Creates an unconnected client outside the pool, for work that needs a session. Close it with `end`. */
  client(limits: Partial<ClientSettings> = {}): Client {
    const socket = this.#sockets.make();
    const settings = { ...this.#settings, ...limits, stream: () => socket };
    const client = new this.#options.driver.Client(settings);
    this.#own.set(client, socket);
    return client;
  }

  /**
   * Closes a client gracefully, or after a second destroys its connection. The driver alone could wait for the server
   * forever.
   */
  async end(client: Client): Promise<void> {
    const leave = this.cutSoon(client);
    try {
      await client.end();
    } catch {
      // The connection is already gone.
    } finally {
      leave();
    }
  }

  /** Destroys a client's connection after a second. Returns a function that cancels it. */
  cutSoon(client: Client): () => void {
    const cut = setTimeout(() => this.#own.get(client)?.destroy(), END_MS);
    return () => clearTimeout(cut);
  }

  async rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return rowsOf<Row>(await this.#connected((connection) => this.#once(connection, text, values)));
  }

  /**
   * Runs one statement outside the pool, even after the pool is closed. The server has `ms` to connect and `ms` to
   * respond.
   */
  async rowsWithin<Row>(ms: number, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#refuseAfterDeadline();
    const client = this.client({ connectionTimeoutMillis: ms, query_timeout: ms });
    client.on("error", () => undefined);
    try {
      await client.connect();
      await this.#settle(client);
      return rowsOf<Row>(await this.#once(client, text, values));
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await this.end(client);
    }
  }

  async write(text: string, values: readonly unknown[]): Promise<number> {
    return (
      (await this.#connected((connection) => this.#once(connection, text, values))).rowCount ?? 0
    );
  }

  /** Runs a script in a transaction. Each statement sees what other transactions have committed before it. */
  run<T>(script: () => Script<T>): Promise<T> {
    return this.#connected((connection) =>
      this.#inTransaction(connection, () => this.#drive(connection, script())),
    );
  }

  async storage(): Promise<StorageReport> {
    const [size] = await this.rows<{ readonly bytes: number }>(BYTES);
    return { bytes: size?.bytes ?? 0, walBytes: undefined };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
  }

  async #connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    if (this.#closed) throw new ServiceBotError("STORE_UNAVAILABLE", "The inbox is closed.");
    this.#refuseAfterDeadline();
    const started = performance.now();
    let broken = false;
    let isCommitted = false;
    const ignore = () => {
      broken = true;
    };
    try {
      const connection = await this.#pool.connect();
      connection.on("error", ignore);
      try {
        const result = await this.#undisturbed(connection, work);
        isCommitted = true;
        return result;
      } catch (error) {
        broken ||= !isOfTheServer(error);
        throw error;
      } finally {
        connection.off("error", ignore);
        connection.release(broken);
      }
    } catch (error) {
      const { "store-failure": failures } = channels;
      if (!(error instanceof ServiceBotError) && failures.hasSubscribers)
        failures.publish({ bot: this.#options.bot, reason: failureOf(error) });
      throw asStoreError(error);
    } finally {
      const { transaction } = channels;
      if (transaction.hasSubscribers)
        transaction.publish({
          bot: this.#options.bot,
          isCommitted,
          ms: performance.now() - started,
        });
    }
  }

  #refuseAfterDeadline(): void {
    if (this.#options.deadline?.aborted !== true) return;
    const message = "The bot is stopping, and the inbox did not respond in time.";
    throw new ServiceBotError("STORE_UNAVAILABLE", message);
  }

  /**
   * Retries a transaction that the server rolled back. The bot's statements lock lanes in key order and cannot deadlock
   * with each other. They can deadlock with an operator's statements or a migration.
   */
  async #undisturbed<T>(
    connection: Connection,
    work: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        if (!this.#settled.has(connection)) await this.#settle(connection);
        return await work(connection);
      } catch (error) {
        if (tries === MAX_TRIES || !ROLLED_BACK.some((code) => hasCode(error, code))) throw error;
        // A pooler's sessions may differ, so a check of the next one proves nothing.
        this.#settlesEach ||= this.#isPooled && !hasCode(error, DEADLOCK);
      }
    }
  }

  async #settle(connection: Connection): Promise<void> {
    const { isPooled, isSuitable } = await settle(connection, this.#timeoutMs);
    this.#settled.add(connection);
    this.#isPooled = isPooled;
    this.#settlesEach ||= !isSuitable;
  }

  /** Runs one statement, which is a transaction of its own. */
  #once(connection: Connection, text: string, values: readonly unknown[]): Promise<Result> {
    const run = () => this.#query(connection, text, values);
    return this.#settlesEach ? this.#inTransaction(connection, run) : run();
  }

  async #inTransaction<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
    const settling = this.#settlesEach ? `; ${settleTransaction(this.#timeoutMs)}` : "";
    await this.#query(connection, BEGIN + settling);
    try {
      const result = await work();
      await this.#query(connection, "COMMIT");
      return result;
    } catch (error) {
      await this.#query(connection, "ROLLBACK");
      throw error;
    }
  }

  async #drive<T>(connection: Connection, script: Script<T>): Promise<T> {
    let step = script.next([]);
    while (step.done !== true) {
      const { text, values } = step.value;
      step = script.next(rowsOf(await this.#query(connection, text, values)));
    }
    return step.value;
  }

  #query(connection: Connection, text: string, values: readonly unknown[] = []): Promise<Result> {
    const made = this.#textOf(text);
    this.#options.onStatement?.(made, values);
    // Given a list of values, even an empty one, the driver prepares the text, which must then be a single statement.
    return connection.query(made, values.length === 0 ? undefined : values.map(packValue));
  }

  #textOf(text: string): string {
    const { schema, now } = this.#options;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    const time = now === undefined ? NOW : `${now()}::bigint`;
    const made = text.replaceAll("{schema}", `"${schema}"`).replaceAll("{now}", time);
    if (now === undefined) this.#texts.set(text, made);
    return made;
  }
}

const MAX_TRIES = 3;

const DEADLOCK = "40P01";

/** A deadlock, and statements that failed because of the session's isolation level or because it may only read. */
const ROLLED_BACK: readonly string[] = [DEADLOCK, "40001", "25006"];

/** Returns a statement's rows, whose type depends on the statement. */
function rowsOf<Row>({ rows }: Result): Row[] {
  return (rows ?? []).map((row) => unpackRow(row)) as Row[];
}
