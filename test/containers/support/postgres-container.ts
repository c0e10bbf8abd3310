import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { root } from "../../../scripts/compile.ts";
import { PostgresStore } from "../../faults/driver/postgres-store.ts";
import type { Docker } from "../engine/docker.ts";

/** Makes the bot's role and database, for a scaffolded bot. */
const INIT = join(root, "templates/stores/postgres/postgres-init.sql");

/** In ms. Makes a database in a new volume. */
const READY_TIMEOUT_MS = 60_000;

/** PostgreSQL in a container, on a network of its own that leads nowhere else. */
export class PostgresContainer {
  readonly name: string;
  readonly network: string;
  readonly #docker: Docker;
  readonly #password = randomBytes(12).toString("hex");

  private constructor(docker: Docker, name: string) {
    this.#docker = docker;
    this.name = `${name}-postgres`;
    this.network = `${name}-database`;
  }

  /** @param name begins the names of the container and its network */
  static async start(docker: Docker, name: string): Promise<PostgresContainer> {
    const database = new PostgresContainer(docker, name);
    await docker.run("network", "create", "--internal", database.network);
    await docker.run(
      ...["run", "--detach", "--name", database.name, "--network", database.network],
      ...["--env", `POSTGRES_PASSWORD=${database.#password}`],
      ...["--volume", `${INIT}:/docker-entrypoint-initdb.d/postgres-init.sql:ro`],
      "postgres:18",
    );
    return database;
  }

  /** Waits until the database takes connections. */
  async store(folder: string): Promise<PostgresStore> {
    const template = "range .NetworkSettings.Networks}}{{json .IPAddress}}{{end";
    const address = await this.#docker.inspect<string>(this.name, template);
    const own = this.#url(address);
    const deadline = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const client = new pg.Client(own);
      const problem = await client.connect().then(
        () => client.end(),
        (error: unknown) => error,
      );
      if (problem === undefined)
        return new PostgresStore({ own, bots: this.#url(this.name) }, folder);
      if (performance.now() > deadline) throw problem;
      await wait(100);
    }
  }

  async remove(): Promise<void> {
    await this.#docker.run("rm", "--force", "--volumes", this.name);
    await this.#docker.run("network", "rm", this.network);
  }

  #url(host: string): string {
    return `postgres://bot:${this.#password}@${host}:5432/bot`;
  }
}
