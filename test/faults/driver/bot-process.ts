import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Order } from "../bot/orders.ts";
import { type BotNote, type BotSettings, MARK, SETTINGS_VARIABLE } from "../bot/settings.ts";

/** A bot that has not ended after so long never will, in milliseconds. */
const PATIENCE_MS = 30_000;

const SCRIPT = fileURLToPath(new URL("../bot/main.ts", import.meta.url));

/** The last lines of a bot that are kept for the post-mortem. */
const TAIL = 40;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** One life of a bot under test. */
export class BotProcess {
  /** Resolves to the bot's address once it is ready; to undefined when it ends before. */
  readonly ready: Promise<string | undefined>;
  readonly exited: Promise<Exit>;
  readonly pid: number;
  /** The failpoint at which it has died. */
  failpoint: string | undefined;
  /** From its start until it said that it was ready, in milliseconds. */
  readyMs: number | undefined;
  readonly #child: ChildProcess;
  readonly #started = performance.now();
  readonly #ready = Promise.withResolvers<string | undefined>();
  readonly #tail: string[] = [];

  constructor(env: Readonly<Record<string, string>>, settings: Partial<BotSettings>) {
    this.#child = spawn(process.execPath, [SCRIPT], {
      env: { PATH: process.env.PATH, ...env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.pid = this.#child.pid ?? 0;
    this.ready = this.#ready.promise;
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) {
        createInterface({ input: stream }).on("line", (line) => this.#read(line));
      }
    }
    this.exited = new Promise((resolve) => {
      // "close" comes after the last line has been read.
      this.#child.once("close", (code, signal) => {
        this.#ready.resolve(undefined);
        resolve({ code, signal });
      });
    });
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && !this.killed;
  }

  /** True once somebody has asked for its end. */
  get killed(): boolean {
    return this.#child.killed;
  }

  /** At once, without a turn of the event loop in between. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal; resolves to how the process has ended. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal);
    return await this.exited;
  }

  /** Lets it stand still, and resolves once it does. */
  async freeze(): Promise<void> {
    process.kill(this.pid, "SIGSTOP");
    while (this.running && !stateOf(this.pid).startsWith("T")) await wait(1);
  }

  thaw(): void {
    process.kill(this.pid, "SIGCONT");
  }

  order(order: Order): void {
    this.#child.send(order);
  }

  /** What it wrote last. */
  tail(): string {
    return this.#tail.join("\n");
  }

  #read(line: string): void {
    if (!line.startsWith(MARK)) {
      this.#tail.push(line);
      if (this.#tail.length > TAIL) this.#tail.shift();
      return;
    }
    const note: BotNote = JSON.parse(line.slice(MARK.length));
    if ("failpoint" in note) {
      this.failpoint = note.failpoint;
      return;
    }
    this.readyMs = performance.now() - this.#started;
    this.#ready.resolve(note.ready);
  }
}

/** As ps shows it: T when a process stands still. */
function stateOf(pid: number): string {
  return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
}

/** Stops a bot with SIGTERM, which must end in exit code 0. */
export async function stopBot(bot: BotProcess, violations: string[]): Promise<Exit> {
  const timer = setTimeout(() => bot.signal("SIGKILL"), PATIENCE_MS);
  const exit = await bot.end("SIGTERM");
  clearTimeout(timer);
  if (exit.code !== 0) {
    const how = exit.signal ?? `exit code ${exit.code}`;
    violations.push(`SIGTERM ended in ${how}, not in exit code 0:\n${bot.tail()}`);
  }
  return exit;
}
