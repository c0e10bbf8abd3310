import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { within } from "../../scripts/demo/process.ts";
import { BrokenPromise } from "../../scripts/demo/report.ts";
import { AtTerminal } from "../support/at-terminal.ts";

/** Time limit for a program, in ms. Long enough to install packages. */
const TIMEOUT_MS = 150_000;

/** A terminal that runs programs one after another. Some keep running in the background. */
export class Shell {
  readonly folder: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #all: AtTerminal[] = [];
  #opened: Opened | undefined;
  #cwd: string;

  /**
   * @param folder the first working folder; `service-bot` in it links to the checkout
   * @param env every program's environment
   */
  constructor(folder: string, checkout: string, env: Readonly<Record<string, string | undefined>>) {
    this.folder = folder;
    this.#cwd = folder;
    this.#env = env;
    symlinkSync(checkout, join(folder, "service-bot"));
  }

  cd(folder: string): void {
    this.#cwd = join(this.#cwd, folder);
  }

  get opened(): Opened {
    if (this.#opened === undefined) throw new Error("nothing was opened");
    return this.#opened;
  }

  /**
   * Runs a program to its end.
   *
   * @throws {BrokenPromise} if its exit code is not 0
   */
  async run(command: string): Promise<string> {
    const program = this.open(command);
    const code = await within(program.ended, () => `${command} does not end`, TIMEOUT_MS);
    const shown = program.takes();
    if (code === 0) return shown;
    throw new BrokenPromise(`${command} ended with ${code}:\n${shown}`);
  }

  /** Starts a program in the background. `opened` returns the first one that is still running. */
  open(command: string): Opened {
    const program = new AtTerminal(command.split(" "), { cwd: this.#cwd, env: this.#env });
    this.#all.push(program);
    const opened = new Opened(command, program);
    this.#opened ??= opened;
    void program.ended.then(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }

  close(): void {
    for (const program of this.#all) program.kill();
  }
}

export class Opened {
  readonly #program: AtTerminal;
  #taken = 0;
  #prompt: string;

  constructor(command: string, program: AtTerminal) {
    this.#program = program;
    this.#prompt = `$ ${command}\n`;
  }

  get ended(): Promise<number> {
    return this.#program.ended;
  }

  type(keys: string): void {
    this.#program.type(keys);
  }

  async shows(...texts: readonly string[]): Promise<void> {
    const { screen } = this.#program;
    const complaint = () => `${JSON.stringify(texts)} are not shown:\n${screen.text}`;
    await within(screen.shows(...texts), complaint);
  }

  /** Returns the output since the last call, or since the command on the first call. */
  takes(): string {
    const { text } = this.#program.screen;
    const end = text.lastIndexOf("\n") + 1;
    const shown = this.#prompt + text.slice(this.#taken, end);
    this.#taken = end;
    this.#prompt = "";
    return shown;
  }
}
