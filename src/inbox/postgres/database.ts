import type { Socket } from "node:net";
import { hasCode, ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import {
  type Client,
  type ClientSettings,
  type Connection,
  type Driver,
  numbersFor,
  type Pool,
  Sockets,
} from "./driver.ts";
import { asStoreError, failureOf, isOfTheServer } from "./store-error.ts";
import { packValues, unpackRow } from "./texts.ts";

export interface DatabaseOptions {
  readonly driver: Driver;
  /** `postgres://…`. Its password is in nothing that is told. */
  readonly url: string;
  /** Where the tables are. */
  readonly schema: string;
  /** Stands in for the database's clock, in tests: milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
  /** How long a connection or an answer may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * When it aborts, what is under way fails, and so does at once whatever is asked for later: a process that ends does not
   * wait for a server that does not answer.
   */
  readonly deadline?: AbortSignal | undefined;
  /** How many connections at most, besides the one that listens. Default 10. */
  readonly connections?: number | undefined;
  /** Told of each statement, which is a round trip, in tests. */
  readonly onStatement?: ((text: string, values: readonly unknown[]) => void) | undefined;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/**
 * Runs statements. In their texts `{schema}` stands for the schema, for a search path would be state of a
 * session, and `{now}` for the time on the database's clock, in milliseconds since 1970.
 */
export interface Queries {
  rows<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

const TIMEOUT_MS = 10_000;
const CONNECTIONS = 10;

/** Whoever does not take the end of a connection within this, in milliseconds, is not waited for. */
const END_MS = 1_000;

/** An idle connection is closed after this, in milliseconds. */
const IDLE_MS = 30_000;

/** Silence on a connection after which TCP asks whether the other end is still there, in milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Of the statement, so that all of it has one time, and an index can be searched for it. A query of its own is
 * run once, where an expression would be computed for each row.
 */
const NOW = "(SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/**
 * A process that stands still inside a transaction would keep what it has locked; the server ends it. It
 * says so for the one transaction, for a pooler may give the next one another session.
 */
const BEGIN = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 15000";

/** The connections to a database, and the statements that run on them. */
export class Database implements Queries {
  readonly #options: DatabaseOptions;
  readonly #settings: ClientSettings;
  readonly #pool: Pool;
  readonly #texts = new Map<string, string>();
  readonly #sockets = new Sockets();
  /** Of the connections that are somebody's own. */
  readonly #own = new WeakMap<Client, Socket>();
  #closed = false;

  constructor(options: DatabaseOptions) {
    const { driver, url, schema, timeoutMs = TIMEOUT_MS, connections = CONNECTIONS } = options;
    options.deadline?.addEventListener("abort", () => this.#sockets.cut(), { once: true });
    this.#options = options;
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
    // Of an idle connection that broke; the next statement makes a new one.
    this.#pool.on("error", () => undefined);
    // The server may end a connection in the same breath in which it is ready, before we have got it; an error
    // that nobody listens for would end the process.
    this.#pool.on("connect", (connection) => connection.on("error", () => undefined));
  }

  get schema(): string {
    return this.#options.schema;
  }

  /** A connection of its own, for what needs a session. It is not connected yet; `end` ends it. */
  client(limits: Partial<ClientSettings> = {}): Client {
    const socket = this.#sockets.make();
    const settings = { ...this.#settings, ...limits, stream: () => socket };
    const client = new this.#options.driver.Client(settings);
    this.#own.set(client, socket);
    return client;
  }

  /** Ends a connection of its own. The driver would wait for the server to take that, be it for ever. */
  async end(client: Client): Promise<void> {
    const leave = this.cutSoon(client);
    try {
      await client.end();
    } catch {
      // It is gone already.
    } finally {
      leave();
    }
  }

  /** Gives a connection of its own one second to come to its end; then it is cut. The returned function takes that back. */
  cutSoon(client: Client): () => void {
    const cut = setTimeout(() => this.#own.get(client)?.destroy(), END_MS);
    return () => clearTimeout(cut);
  }

  /** Runs one statement, in a transaction of its own. */
  rows<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#connected((connection) =>
      undisturbed(() => this.#run<Row>(connection, text, values)),
    );
  }

  /**
   * The same on a connection of its own, also once all others are closed. The server has so many milliseconds to take the
   * connection, and as many to answer.
   */
  async rowsWithin<Row>(ms: number, text: string, values: readonly unknown[] = []): Promise<Row[]> {
    this.#refuseAfterDeadline();
    const client = this.client({ connectionTimeoutMillis: ms, query_timeout: ms });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await this.#run<Row>(client, text, values);
    } catch (error) {
      throw asStoreError(error);
    } finally {
      await this.end(client);
    }
  }

  /**
   * Runs statements in one transaction. Each sees what others have committed before it.
   *
   * @param work may run several times, and changes nothing but the database
   */
  transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.#connected((connection) =>
      undisturbed(() => this.#inTransaction(connection, work)),
    );
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
    const ignore = () => {
      broken = true;
    };
    try {
      const connection = await this.#pool.connect();
      connection.on("error", ignore);
      try {
        return await work(connection);
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
        transaction.publish({ bot: this.#options.bot, ms: performance.now() - started });
    }
  }

  #refuseAfterDeadline(): void {
    if (this.#options.deadline?.aborted !== true) return;
    const message = "The bot stops, and the inbox has not answered in time.";
    throw new ServiceBotError("STORE_UNAVAILABLE", message);
  }

  async #inTransaction<T>(
    connection: Connection,
    work: (queries: Queries) => Promise<T>,
  ): Promise<T> {
    await this.#run(connection, BEGIN);
    try {
      const result = await work({
        rows: (text, values) => this.#run(connection, text, values),
      });
      await this.#run(connection, "COMMIT");
      return result;
    } catch (error) {
      await this.#run(connection, "ROLLBACK");
      throw error;
    }
  }

  async #run<Row>(
    connection: Connection,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const made = this.#textOf(text);
    this.#options.onStatement?.(made, values);
    // A list of values, even an empty one, makes the driver prepare the text, which takes one statement only.
    const given = values.length === 0 ? undefined : packValues(values);
    const { rows } = await connection.query(made, given);
    return (rows ?? []).map(unpackRow) as Row[];
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

/** So often something is tried that the server has ended because it and somebody else waited for each other. */
const TRIES = 3;

/**
 * Statements take several lanes in the order of their keys, so that no two of them wait for each other. Somebody
 * else's, such as an operator's own, may take them otherwise, and so does a new version that changes the tables while
 * old ones are at work. What the server ends then, it has not done.
 */
async function undisturbed<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (tries === TRIES || !hasCode(error, DEADLOCK)) throw error;
    }
  }
}

const DEADLOCK = "40P01";

/**
 * The driver takes three modes of TLS, which other programs mean less strictly, as the strictest one, and
 * warns of that. It is said to it as it is meant.
 */
function withStrictTls(url: string): string {
  const parsed = new URL(url);
  const { searchParams } = parsed;
  if (searchParams.has("uselibpqcompat")) return url;
  if (!/^(prefer|require|verify-ca)$/.test(searchParams.get("sslmode") ?? "")) return url;
  searchParams.set("sslmode", "verify-full");
  return parsed.href;
}
