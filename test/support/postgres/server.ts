import { execFile } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { MEMORY_FOLDER } from "../memory-folder.ts";
import { reservePort } from "../reserve-port.ts";
import { Server } from "../server.ts";
import { type Binaries, binariesOf } from "./binaries.ts";

/** An unprivileged user if the tests run as root, because PostgreSQL refuses to run as root. */
export const SERVER_USER: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Makes the servers' user the owner of a path. */
export function giveToServer(path: string): void {
  const { uid, gid } = SERVER_USER;
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** A private PostgreSQL server. Its folder is deleted when the server stops. */
export class PostgresServer {
  readonly port: number;
  readonly #folder: string;
  readonly #binaries: Binaries;
  #process: Server | undefined;
  #settings: readonly string[] = [
    "max_connections=400",
    "autovacuum_naptime=1",
    "listen_addresses=127.0.0.1",
  ];

  private constructor(folder: string, binaries: Binaries, port: number) {
    this.#folder = folder;
    this.#binaries = binaries;
    this.port = port;
  }

  /** @param settings `name=value` pairs added to the defaults for tests. A later setting overrides an earlier one. */
  static async start(version: string, settings: readonly string[] = []): Promise<PostgresServer> {
    const folder = mkdtempSync(join(MEMORY_FOLDER, "service-bot-postgres-"));
    giveToServer(folder);
    chmodSync(folder, 0o755);
    const binaries = await binariesOf(version, folder);
    const server = new PostgresServer(folder, binaries, await reservePort());
    server.#settings = [...server.#settings, ...settings];
    const data = join(folder, "data");
    const args = ["-D", data, "-U", "bot", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"];
    await promisify(execFile)(join(binaries.bin, "initdb"), args, server.#options());
    await server.begin();
    return server;
  }

  /** @param database default: `postgres`, which always exists */
  url(database = "postgres"): string {
    return `postgres://bot:hunter2@127.0.0.1:${this.port}/${database}`;
  }

  /** Restarts the server after {@link end}. */
  async begin(): Promise<void> {
    const command = [
      join(this.#binaries.bin, "postgres"),
      ...["-D", join(this.#folder, "data"), "-k", this.#folder, "-p", String(this.port)],
      ...this.#settings.flatMap((setting) => ["-c", setting]),
    ];
    const options = { ...this.#options(), data: join(this.#folder, "data") };
    this.#process = await Server.start(command, "ready to accept connections", options);
  }

  /** Restarts the server with TLS enabled. It still accepts connections without TLS. */
  async secure(certificate: { readonly cert: string; readonly key: string }): Promise<void> {
    const [cert, key] = [join(this.#folder, "server.pem"), join(this.#folder, "server.key")];
    copyFileSync(certificate.cert, cert);
    copyFileSync(certificate.key, key);
    for (const file of [cert, key]) {
      chmodSync(file, 0o600);
      giveToServer(file);
    }
    await this.end();
    const tls = ["ssl=on", `ssl_cert_file=${cert}`, `ssl_key_file=${key}`];
    this.#settings = [...this.#settings, ...tls];
    await this.begin();
  }

  /**
   * Stops the server and closes its connections, but keeps its data.
   *
   * @param how `immediate` stops the server as a crash would, so the next start runs recovery
   */
  async end(how: "fast" | "immediate" = "fast"): Promise<void> {
    const server = this.#process;
    this.#process = undefined;
    await server?.end(how === "fast" ? "SIGINT" : "SIGQUIT");
  }

  async stop(): Promise<void> {
    await this.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #options(): { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number } {
    const env = { PATH: process.env["PATH"], LC_ALL: "C", ...this.#binaries.env };
    return { cwd: this.#folder, env, ...SERVER_USER };
  }
}
