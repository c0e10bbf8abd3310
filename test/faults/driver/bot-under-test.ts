import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Child } from "../../support/child.ts";
import {
  type BotNote,
  type BotSample,
  type BotSettings,
  MARK,
  type Order,
  SETTINGS_VARIABLE,
} from "../bot/protocol.ts";

const SCRIPT = fileURLToPath(new URL("../bot/main.ts", import.meta.url));

/** Number of output lines in failure reports. */
const MAX_TAIL_LINES = 40;

export interface Life {
  readonly env: Readonly<Record<string, string>>;
  readonly settings: Partial<BotSettings>;
  readonly place: number;
}

/** A bot under test. */
export class BotUnderTest extends Child {
  /** Resolves to the bot's URL, or to `undefined` if the bot exits before it is ready. */
  readonly ready: Promise<string | undefined>;
  url = "";
  /** How long the bot took to become ready, in ms. */
  readyMs: number | undefined;
  readonly #child: ChildProcess;
  readonly #started = performance.now();

  constructor(child: ChildProcess) {
    super(child);
    this.#child = child;
    this.ready = this.#untilReady();
  }

  static start({ env, settings }: Life): BotUnderTest {
    const child = spawn(process.execPath, [SCRIPT], {
      env: { PATH: process.env.PATH, ...env, [SETTINGS_VARIABLE]: JSON.stringify(settings) },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    return new BotUnderTest(child);
  }

  get running(): boolean {
    return !this.hasEnded && !this.killed;
  }

  get killed(): boolean {
    return this.#child.killed;
  }

  /** The process id in the bot's journal. */
  get journalPid(): number {
    return this.pid;
  }

  /** The failpoint at which the bot has killed itself. */
  get failpoint(): string | undefined {
    const line = this.stdout.findLast((each) => each.startsWith(MARK));
    const note = line === undefined ? undefined : noteIn(line);
    return note !== undefined && "failpoint" in note ? note.failpoint : undefined;
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

  /** Returns the last lines that the bot has logged. */
  lastLines(): string {
    return this.tail(MAX_TAIL_LINES)
      .filter((line) => !line.startsWith(MARK))
      .join("\n");
  }

  protected addressOf(url: string): string {
    return url;
  }

  async #untilReady(): Promise<string | undefined> {
    const isReady = (line: string) => line.startsWith(MARK) && "ready" in noteIn(line);
    const line = await this.line(isReady).catch(() => undefined);
    if (line === undefined) return undefined;
    const note = noteIn(line);
    this.readyMs = performance.now() - this.#started;
    this.url = this.addressOf("ready" in note ? note.ready : "");
    return this.url;
  }
}

function noteIn(line: string): BotNote {
  return JSON.parse(line.slice(MARK.length));
}

/** In the output of ps, T means stopped. */
function stateOf(pid: number): string {
  return execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
}
