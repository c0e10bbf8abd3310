import { AsyncLocalStorage } from "node:async_hooks";
import { Writable } from "node:stream";
import { onTestFinished } from "vitest";
import { run } from "../faces/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export interface CommandOptions {
  /** Working directory. By default, an empty folder. */
  readonly cwd?: string;
  /** Environment variables in addition to `PATH`. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs `service-bot` in this process, and waits for it to end. Tests that need a separate process are in
 * bin.system.test.ts.
 */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const command = new Command(args, options);
  const code = await command.exited;
  return { code, out: command.stdout.join("\n"), err: command.stderr.join("\n") };
}

export function startCommand(args: readonly string[], options: CommandOptions = {}): Command {
  const command = new Command(args, options);
  onTestFinished(async () => void (await command.stop()));
  return command;
}

export async function runAt<T>(
  { cwd = temporaryFolder(), env = {} }: CommandOptions,
  work: () => T | Promise<T>,
): Promise<T> {
  const surroundings = { cwd, env: { PATH: process.env["PATH"], ...env } };
  enter(surroundings);
  // Restore the process's state even if the test times out.
  onTestFinished(() => leave(surroundings));
  try {
    return await work();
  } finally {
    leave(surroundings);
  }
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;

const current = new AsyncLocalStorage<{ readonly stdout: Lines; readonly stderr: Lines }>();

export class Command {
  readonly exited: Promise<number>;
  readonly #stdout = new Lines();
  readonly #stderr = new Lines();

  constructor(args: readonly string[], options: CommandOptions) {
    const output = { stdout: this.#stdout, stderr: this.#stderr };
    this.exited = current.run(output, () => runAt(options, () => run(args)));
  }

  get stdout(): readonly string[] {
    return this.#stdout.all;
  }

  get stderr(): readonly string[] {
    return this.#stderr.all;
  }

  async line(fits: (line: string) => boolean): Promise<string> {
    const isOver = this.exited.then(() => true);
    for (let over = false; ; ) {
      const found = this.stdout.find(fits);
      if (found !== undefined) return found;
      if (over) throw new Error(`no such line:\n${[...this.stdout, ...this.stderr].join("\n")}`);
      over = await Promise.race([isOver, this.#stdout.changed()]);
    }
  }

  /** Sends a signal to every command in this process. Resolves to this command's exit code. */
  async stop(signal: (typeof SIGNALS)[number] = "SIGTERM"): Promise<number> {
    for (const listener of takeListeners(signal)) listener(signal);
    return await this.exited;
  }
}

class Lines extends Writable {
  #text = "";
  #change = Promise.withResolvers<false>();

  get all(): readonly string[] {
    return this.#text === "" ? [] : this.#text.replace(/\n$/, "").split("\n");
  }

  changed(): Promise<false> {
    return this.#change.promise;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#text += chunk.toString();
    this.#change.resolve(false);
    this.#change = Promise.withResolvers();
    done();
  }
}

interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Environment and folder of each running command. Those of the latest command are in effect. */
const entered: Surroundings[] = [];

/** Restores the environment and folder from before the first command. */
let restoreProcess = (): void => undefined;

/** Signal listeners from before the first command. */
let foreign = new Set<NodeJS.SignalsListener>();

function enter(surroundings: Surroundings): void {
  if (entered.length === 0) {
    const before = { cwd: process.cwd(), env: { ...process.env } };
    foreign = new Set(SIGNALS.flatMap((signal) => process.listeners(signal)));
    const restoreOutput = redirectOutput();
    restoreProcess = () => {
      restoreOutput();
      for (const signal of SIGNALS) takeListeners(signal);
      apply(before);
    };
  }
  entered.push(surroundings);
  apply(surroundings);
}

/** Calling it twice is harmless. */
function leave(surroundings: Surroundings): void {
  const index = entered.indexOf(surroundings);
  if (index < 0) return;
  entered.splice(index, 1);
  const last = entered.at(-1);
  if (last === undefined) restoreProcess();
  else apply(last);
}

function apply({ cwd, env }: Surroundings): void {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) {
    if (!(name in env)) delete process.env[name];
  }
  Object.assign(process.env, env);
}

function takeListeners(signal: (typeof SIGNALS)[number]): NodeJS.SignalsListener[] {
  const listeners = process.listeners(signal).filter((listener) => !foreign.has(listener));
  for (const listener of listeners) process.off(signal, listener);
  return listeners;
}

function redirectOutput(): () => void {
  const names = ["stdout", "stderr"] as const;
  const before = names.map((name) => {
    const stream = process[name];
    const property = Object.getOwnPropertyDescriptor(process, name) ?? {};
    const get = () => current.getStore()?.[name] ?? stream;
    Object.defineProperty(process, name, { configurable: true, enumerable: true, get });
    return [name, property] as const;
  });
  return () => {
    for (const [name, property] of before) Object.defineProperty(process, name, property);
  };
}
