import { look } from "../../test/support/postgres/look.ts";
import { PostgresServer } from "../../test/support/postgres/server.ts";

/** A PostgreSQL server that starts when the first database is created. */
export class Databases {
  #server: Promise<PostgresServer> | undefined;
  #made = 0;

  async make(): Promise<string> {
    this.#server ??= PostgresServer.start("18");
    const server = await this.#server;
    this.#made += 1;
    const name = `bot_${this.#made}`;
    await look({ url: server.url() }, `CREATE DATABASE ${name}`);
    return server.url(name);
  }

  async close(): Promise<void> {
    await (await this.#server)?.stop();
  }
}
