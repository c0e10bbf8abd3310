import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isInstalled, SERVER_PATH } from "../../support/server-path.ts";
import { Docker } from "./docker.ts";

/** Folder for images and containers, kept between runs because building the base images takes minutes. */
export const CACHE: string =
  process.env["SERVICE_BOT_CONTAINERS"] ?? "/var/cache/service-bot-containers";

const START_TIMEOUT_MS = 60_000;

const INSTALL = "apt-get install --no-install-recommends docker.io docker-compose mmdebstrap";

export function whyNoEngine(): string | undefined {
  if (process.getuid?.() !== 0) return "container tests are skipped: only root can start an engine";
  const needed = [
    ["docker", "--version"],
    ["dockerd", "--version"],
    ["docker-compose", "--version"],
    ["mmdebstrap", "--version"],
  ] as const;
  const missing = needed.filter((one) => !isInstalled(one)).map(([command]) => command);
  if (missing.length === 0) return undefined;
  return `container tests are skipped: there is no ${missing.join(" and ")} (Debian: ${INSTALL})`;
}

/**
 * A private engine that runs as a child of this process. Its images, containers and networks are separate from the
 * machine's.
 */
export class Engine {
  readonly host: string;
  readonly docker: Docker;
  readonly #daemon: ChildProcess | undefined;

  private constructor(host: string, daemon?: ChildProcess) {
    this.host = host;
    this.docker = new Docker(host);
    this.#daemon = daemon;
  }

  /**
   * Starts the engine, or reuses the daemon of another run.
   *
   * @throws if the daemon exits or does not respond in time
   */
  static async start(): Promise<Engine> {
    mkdirSync(CACHE, { recursive: true });
    const socket = `unix://${join(CACHE, "docker.sock")}`;
    const found = new Engine(socket);
    if (await found.docker.succeeds("version")) return found;
    const log = join(CACHE, "dockerd.log");
    const output = openSync(log, "w");
    const daemon = spawn(
      "dockerd",
      [
        ...["--host", socket, "--pidfile", join(CACHE, "dockerd.pid")],
        ...["--data-root", join(CACHE, "docker"), "--exec-root", join(CACHE, "run")],
      ],
      { stdio: ["ignore", output, output], env: { ...process.env, PATH: SERVER_PATH } },
    );
    const engine = new Engine(socket, daemon);
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await engine.docker.succeeds("version"))) {
      if (daemon.exitCode !== null || performance.now() > deadline) {
        daemon.kill();
        throw new Error(`dockerd did not start:\n${readFileSync(log, "utf8").slice(-4_000)}`);
      }
      await wait(200);
    }
    return engine;
  }

  /** Stops the daemon, together with all its containers, unless another run started it. */
  async stop(): Promise<void> {
    if (this.#daemon === undefined || this.#daemon.exitCode !== null) return;
    const exited = once(this.#daemon, "exit");
    this.#daemon.kill("SIGTERM");
    await exited;
  }
}
