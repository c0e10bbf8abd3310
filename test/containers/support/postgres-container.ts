import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { root } from "../../../scripts/root.ts";
import { PostgresStore } from "../../faults/driver/postgres-store.ts";
import type { Docker } from "../engine/docker.ts";

const INIT = join(root, "templates/stores/postgres/postgres-init.sql");

/** Isolates the network from this machine, so that bots cannot reach the platform through it. */
const NO_HOST = "com.docker.network.bridge.inhibit_ipv4=true";

/** The server's host name in its network, as in compose.yaml and the Kubernetes manifests. */
const HOST = "postgres";

/** Time limit for starting the server and creating the database, in ms. */
const READY_TIMEOUT_MS = 60_000;

/** PostgreSQL in a container. Bots use an isolated network, and this machine uses the default network. */
export class PostgresContainer {
  readonly name: string;
  readonly network: string;
  readonly password: string = randomBytes(12).toString("hex");
  readonly #docker: Docker;

  private constructor(docker: Docker, name: string) {
    this.#docker = docker;
    this.name = `${name}-postgres`;
    this.network = `${name}-database`;
  }

  static async start(docker: Docker, name: string): Promise<PostgresContainer> {
    const database = new PostgresContainer(docker, name);
    await docker.run("network", "create", "--internal", "--opt", NO_HOST, database.network);
    await docker.run(
      ...["run", "--detach", "--name", database.name],
      ...["--env", `POSTGRES_PASSWORD=${database.password}`],
      ...["--volume", `${INIT}:/docker-entrypoint-initdb.d/postgres-init.sql:ro`],
      "postgres:18",
    );
    await docker.run("network", "connect", "--alias", HOST, database.network, database.name);
    return database;
  }

  async store(folder: string): Promise<PostgresStore> {
    return new PostgresStore({ own: await this.ready(), bots: this.#url(this.name) }, folder);
  }

  /** Waits until the database accepts connections. Resolves to its URL in the default network. */
  async ready(): Promise<string> {
    const template = "json .NetworkSettings.Networks.bridge.IPAddress";
    const address = await this.#docker.inspect<string>(this.name, template);
    const own = this.#url(address);
    const deadline = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      const client = new pg.Client(own);
      const problem = await client.connect().then(
        () => client.end(),
        (error: unknown) => error,
      );
      if (problem === undefined) return own;
      if (performance.now() > deadline) throw problem;
      await wait(100);
    }
  }

  async remove(): Promise<void> {
    await this.#docker.run("rm", "--force", "--volumes", this.name);
    await this.#docker.run("network", "rm", this.network);
  }

  #url(host: string): string {
    return `postgres://bot:${this.password}@${host}:5432/bot`;
  }
}
