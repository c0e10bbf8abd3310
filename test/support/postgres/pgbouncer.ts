import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "../reserve-port.ts";
import { Server } from "../server.ts";
import { SERVER_PATH } from "../server-path.ts";
import { giveToServer, SERVER_USER } from "./server.ts";

/** Returns why PgBouncer cannot run here, or `undefined` if it can. */
export function whyNoPgBouncer(): string | undefined {
  try {
    execFileSync("pgbouncer", ["--version"], { stdio: "ignore", env: { PATH: SERVER_PATH } });
    return undefined;
  } catch {
    return "nothing is tested behind a pooler: there is no PgBouncer (Debian: apt-get install pgbouncer)";
  }
}

/** PgBouncer in transaction mode in front of a local server. Most other settings keep their defaults. */
export class PgBouncer {
  readonly port: number;
  readonly #folder: string;
  #process: Server | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  /**
   * @param server URL of any database on the server, with a user and a password
   * @param settings for the `[pgbouncer]` section, such as `default_pool_size`
   */
  static async start(
    server: string,
    settings: Readonly<Record<string, number>> = {},
  ): Promise<PgBouncer> {
    const { hostname, port, username, password } = new URL(server);
    const folder = mkdtempSync(join(tmpdir(), "service-bot-pgbouncer-"));
    const pooler = new PgBouncer(folder, await reservePort());
    const lines = [
      `[databases]\n* = host=${hostname} port=${port}\n[pgbouncer]`,
      ...["pool_mode = transaction", "listen_addr = 127.0.0.1", `listen_port = ${pooler.port}`],
      // Tests that run at the same time may use up the server's connections for a moment.
      "server_login_retry = 0.1",
      ...["unix_socket_dir =", "auth_file = users.txt", `admin_users = ${username}`],
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    ];
    const files = { "pgbouncer.ini": lines.join("\n"), "users.txt": `"${username}" "${password}"` };
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, name), `${text}\n`);
    // Like PostgreSQL, PgBouncer refuses to run as root.
    giveToServer(folder);
    await pooler.begin();
    return pooler;
  }

  /** Restarts PgBouncer after {@link end}. */
  async begin(): Promise<void> {
    const place = { cwd: this.#folder, data: this.#folder };
    const options = { ...place, env: { PATH: SERVER_PATH }, ...SERVER_USER };
    this.#process = await Server.start(["pgbouncer", "pgbouncer.ini"], "process up", options);
  }

  /** Stops PgBouncer at once, which breaks all of its connections. */
  async end(): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    await server?.end("SIGTERM");
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
