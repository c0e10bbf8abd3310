import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  type BotNote,
  type BotSample,
  type BotSettings,
  MARK,
  type Order,
  SETTINGS_VARIABLE,
} from "../bot/protocol.ts";

const SCRIPT = fileURLToPath(new URL("../bot/main.ts", import.meta.url));

/** Number of output lines kept for failure reports. */
const MAX_TAIL_LINES = 40;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Life {
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Partial<BotSettings>;
  readonly place: number;
}

export class BotProcess {
  /** Resolves to the bot's URL, or to `undefined` if the bot exits before it is ready. */
  readonly ready: Promise<string | undefined>;
  readonly exited: Promise<Exit>;
  /** The process id, which the journal also contains. */
  readonly pid: number;
  url = "";
  failpoint: string | undefined;
  /** How long the bot took to become ready, in ms. */
  readyMs: number | undefined;
  readonly #child: ChildProcess;
  readonly #started = performance.now();
  readonly #ready = Promise.withResolvers<string | undefined>();
  readonly #tail: string[] = [];

  constructor(child: ChildProcess, pid: number = child.pid ?? 0) {
    this.#child = child;
    this.pid = pid;
    this.ready = this.#ready.promise;
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      if (stream !== null) {
        createInterface({ input: stream }).on("line", (line) => this.#read(line));
      }
    }
    this.exited = new Promise((resolve) => {
      this.#child.once("close", (code, signal) => {
        this.#ready.resolve(undefined);
        resolve({ code, signal });
      });
    });
  }

  static start({ env, settings }: Life): BotProcess {
    const child = spawn(process.execPath, [SCRIPT], {
      env: { PATH: process.env.PATH, ...env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    return new BotProcess(child);
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && !this.killed;
  }

  get killed(): boolean {
    return this.#child.killed;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal);
    return await this.exited;
  }

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

  async sample(): Promise<BotSample> {
    const answer = once(this.#child, "message");
    this.order({ sample: true });
    const [sample]: BotSample[] = await answer;
    if (sample === undefined) throw new Error("the bot sent no sample");
    return sample;
  }

  tail(): string {
    return this.#tail.join("\n");
  }

  #read(line: string): void {
    if (!line.startsWith(MARK)) {
      this.#tail.push(line);
      if (this.#tail.length > MAX_TAIL_LINES) this.#tail.shift();
      return;
    }
    const note: BotNote = JSON.parse(line.slice(MARK.length));
    if ("failpoint" in note) {
      this.failpoint = note.failpoint;
      return;
    }
    this.readyMs = performance.now() - this.#started;
    this.url = this.addressOf(note.ready);
    this.#ready.resolve(this.url);
  }

  protected addressOf(url: string): string {
    return url;
  }
}

/** In the output of ps, T means stopped. */
function stateOf(pid: number): string {
  return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
}
