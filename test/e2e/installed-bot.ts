import { join } from "node:path";
import { expect } from "vitest";
import { complete, type Ended } from "../../scripts/registry/program.ts";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";

/** Time limit of a command, in ms. */
const TIMEOUT_MS = 120_000;

/** Environment variables. */
export type Env = Readonly<Record<string, string>>;

/** A scaffolded bot outside the checkout, whose processes find only the packages in the bot's own `node_modules`. */
export class InstalledBot {
  readonly folder: string;
  /** The Node that runs the bot. */
  readonly node: string;

  constructor(folder: string, node: string = process.execPath) {
    this.folder = folder;
    this.node = node;
  }

  /** Starts `service-bot` with these arguments. The process is killed after the test. */
  command(args: readonly string[], env: Env = {}): TestProcess {
    return this.#start([CLI, ...args], env);
  }

  /** Starts the bot as `npm start` does. */
  start(env: Env, args: readonly string[] = [], entry = "src/main.ts"): TestProcess {
    return this.#start(["--import", "service-bot/env", ...args, entry], env);
  }

  #start(args: readonly string[], env: Env): TestProcess {
    const options = { cwd: this.folder, bareEnv: true, env: { ...this.#compileCache, ...env } };
    return new TestProcess(args, { ...options, command: this.node });
  }

  /** The bot's dozens of processes load the same modules. The cache is deleted with the bot. */
  get #compileCache(): Env {
    return { NODE_COMPILE_CACHE: join(this.folder, "node_modules", ".cache", "compiled") };
  }

  /** Runs a command of `service-bot`, or a script. */
  async run(args: readonly string[], env: Env = {}): Promise<Ended> {
    const PATH = process.env["PATH"] ?? "";
    const surroundings = { cwd: this.folder, env: { PATH, ...this.#compileCache, ...env } };
    return await complete(this.node, args, surroundings, TIMEOUT_MS);
  }

  /** Runs `service-bot` and expects an exit code. Returns its standard output. */
  async cli(args: readonly string[], env: Env = {}, expected = 0): Promise<string> {
    const { code, output, stdout } = await this.run([CLI, ...args], env);
    expect(code, `${args.join(" ")}\n${output}`).toBe(expected);
    return stdout;
  }

  async json(args: readonly string[], env: Env, expected = 0): Promise<Record<string, unknown>> {
    return JSON.parse(await this.cli([...args, "--json"], env, expected));
  }

  /** Starts a local platform and the bot. */
  async startBoth(
    settings: Env = {},
    args: readonly string[] = [],
    entry?: string,
  ): Promise<RunningBot> {
    const [platformPort, port] = [await reservePort(), await reservePort()];
    const env = {
      ...{ SERVICE_BASE_URL: `http://127.0.0.1:${platformPort}`, PORT: String(port) },
      ...{ DATABASE_URL: `file:data/${port}.db`, ...settings },
    };
    const webhook = `http://127.0.0.1:${port}/webhook`;
    const flags = ["--port", String(platformPort), "--webhook", webhook, "--json"];
    const platform = this.command(["platform", ...flags], env);
    const { apiKey } = JSON.parse(await platform.line((line) => line.startsWith("{")));
    const process = this.start(env, args, entry);
    const ready = await process.message("ready");
    return { env, apiKey, process, ready };
  }

  /** Makes a user write a message or a mention, and returns the bot's answer. */
  async answerTo(
    type: "dm.message" | "mention",
    env: Env,
    text = "hello",
  ): Promise<Record<string, unknown>> {
    const words = ["trigger", type, "--from", "ada", "--text", text, "--wait"];
    return (await this.json(words, env))["answer"] as Record<string, unknown>;
  }
}

/** Path of `service-bot` in a bot. */
export const CLI: string = join("node_modules", "service-bot", "dist", "cli", "main.js");

export interface RunningBot {
  readonly env: Env;
  readonly apiKey: string;
  readonly process: TestProcess;
  /** Fields of the log line. */
  readonly ready: Readonly<Record<string, unknown>>;
}
