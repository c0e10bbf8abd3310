import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { dirname } from "node:path";
import { SETTINGS_VARIABLE } from "../../faults/bot/protocol.ts";
import { BotUnderTest, type Life } from "../../faults/driver/bot-under-test.ts";
import type { Exit } from "../../support/child.ts";
import { reservePort } from "../../support/reserve-port.ts";
import type { Docker } from "../engine/docker.ts";
import { CONFINED, type State } from "./container.ts";

const START_TIMEOUT_MS = 20_000;
const LOOK_INTERVAL_MS = 20;

const MAX_PAUSES = 20;

const RUN = `
name=$1 network=$2; shift 2
docker create --name "$name" "$@" >/dev/null
[ -z "$network" ] || docker network connect "$network" "$name"
exec docker start --attach "$name"
`;

const CONNECT = `
const [host, port] = process.argv.slice(1);
setTimeout(() => process.exit(1), 1_000);
require("node:net").connect(port, host, () => process.exit(0)).on("error", () => process.exit(1));
`;

export interface FaultBotsOptions {
  readonly docker: Docker;
  readonly image: string;
  /** Prefix of the containers', volumes' and networks' names. */
  readonly name: string;
  readonly instances?: number;
  /** Volume or host folder mounted at `/bot/data`. Default: none. */
  readonly data?: string;
  /** An additional network for each bot, such as the database's. */
  readonly network?: string;
  /** Port of each bot inside its container. Default: 3000. */
  readonly port?: number;
  /** Returns additional flags for `docker create`, by the bot's index. */
  readonly flags?: (place: number) => readonly string[];
}

/** Each start of a bot creates a new container with the previous container's volume. */
export class FaultBots {
  readonly network: string;
  readonly #options: FaultBotsOptions;
  readonly #ports: readonly number[];
  readonly #lives: FaultBot[] = [];

  private constructor(options: FaultBotsOptions, ports: readonly number[]) {
    this.#options = options;
    this.#ports = ports;
    this.network = `${options.name}-platform`;
  }

  static async create(options: FaultBotsOptions): Promise<FaultBots> {
    const { instances = 1 } = options;
    const ports: number[] = [];
    while (ports.length < instances) ports.push(await reservePort());
    const bots = new FaultBots(options, ports);
    await options.docker.run("network", "create", bots.network);
    return bots;
  }

  /** Starts a bot. Used as `WorldOptions.launch`. */
  readonly launch = ({ env, settings, place }: Life): FaultBot => {
    const { docker, image, name, data, network = "", flags = () => [] } = this.#options;
    const inside = this.#options.port ?? 3000;
    const life = this.#lives.length + 1;
    const container = `${name}-${place}-${life}`;
    const variables = {
      ...env,
      ...{ HOST: "0.0.0.0", PORT: String(inside), NODE_COMPILE_CACHE: "" },
      [SETTINGS_VARIABLE]: JSON.stringify({ ...settings, journalPid: life }),
    };
    // In a cluster, the world has already chosen the ports, because nginx needs them in advance.
    const port = env["PORT"] === "0" ? this.#ports[place] : Number(env["PORT"]);
    const shared = dirname(settings.runsFile ?? "");
    chmodSync(shared, 0o777);
    const args = [
      ...["--network", this.network, "--publish", `127.0.0.1:${port}:${inside}`],
      ...[...CONFINED, "--memory", "512m", "--volume", `${shared}:${shared}`],
      ...(data === undefined ? [] : ["--volume", `${data}:/bot/data`]),
      ...Object.entries(variables).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
      ...[...flags(place), image],
    ];
    const child = spawn("sh", ["-euc", RUN, "sh", container, network, ...args], {
      env: { ...process.env, ...docker.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const bot = new FaultBot(child, life, { docker, name: container, port: port ?? 0 });
    this.#lives.push(bot);
    return bot;
  };

  at(place = 0): FaultBot {
    const bot = this.#lives.findLast(({ name }) =>
      name.startsWith(`${this.#options.name}-${place}-`),
    );
    if (bot === undefined) throw new Error(`no bot was started at index ${place}`);
    return bot;
  }

  /** Disconnects a bot from the platform in both directions, or from its additional network. */
  async disconnect(bot: FaultBot, network: string = this.network): Promise<void> {
    await this.#options.docker.run("network", "disconnect", network, bot.name);
  }

  async connect(bot: FaultBot, network: string = this.network): Promise<void> {
    await this.#options.docker.run("network", "connect", network, bot.name);
  }

  async reaches(bot: FaultBot, { hostname, port }: URL): Promise<boolean> {
    return await this.#options.docker.succeeds(
      "exec",
      bot.name,
      "node",
      "-e",
      CONNECT,
      hostname,
      port,
    );
  }

  async remove(): Promise<void> {
    const { docker } = this.#options;
    const names = this.#lives.map(({ name }) => name);
    if (names.length > 0) await docker.run("rm", "--force", "--volumes", ...names);
    await docker.run("network", "rm", this.network);
  }
}

interface Container {
  readonly docker: Docker;
  readonly name: string;
  readonly port: number;
}

export class FaultBot extends BotUnderTest {
  readonly name: string;
  readonly #life: number;
  readonly #docker: Docker;
  readonly #port: number;
  #signalled = false;

  constructor(child: ChildProcess, life: number, { docker, name, port }: Container) {
    super(child);
    this.#life = life;
    this.#docker = docker;
    this.name = name;
    this.#port = port;
  }

  /** Every bot in a container has the same process id. */
  override get journalPid(): number {
    return this.#life;
  }

  override get killed(): boolean {
    return this.#signalled;
  }

  /** Waits until the container is running, because `docker kill` fails before that. */
  override kill(signal: NodeJS.Signals): void {
    this.#signalled = true;
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!this.hasEnded && performance.now() < deadline) {
      try {
        this.#docker.runNow("kill", "--signal", signal, this.name);
        return;
      } catch {
        if (this.#status() === "exited") return;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_INTERVAL_MS);
    }
  }

  /** Stops the bot with `docker stop`, which sends SIGTERM. */
  override async end(signal: NodeJS.Signals): Promise<Exit> {
    if (signal !== "SIGTERM") return await super.end(signal);
    this.#signalled = true;
    await this.#docker.run("stop", this.name);
    return await this.exited;
  }

  override async freeze(): Promise<void> {
    // Retry, because runc fails if one of the container's threads does not freeze within milliseconds.
    let tries = MAX_PAUSES;
    while (!(await this.#docker.succeeds("pause", this.name))) {
      tries -= 1;
      if (tries === 0) throw new Error(`${this.name} cannot be paused`);
    }
  }

  override thaw(): void {
    this.#docker.runNow("unpause", this.name);
  }

  state(): Promise<State> {
    return this.#docker.inspect<State>(this.name, "json .State");
  }

  protected override addressOf(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  #status(): string {
    try {
      return this.#docker.runNow("inspect", "--format", "{{.State.Status}}", this.name);
    } catch {
      return "not created";
    }
  }
}
