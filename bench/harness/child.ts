import { type ChildProcess, fork, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onCore, type Side } from "./cores.ts";
import { type Costs, startCosts, stopCosts } from "./costs.ts";
import { startProfile, stopProfile } from "./profiler.ts";

/** Functions that a benchmark can call in its process. Arguments and results are plain data. */
export type Handlers = {
  // biome-ignore lint/suspicious/noExplicitAny: each handler names its own arguments, which `never` and `unknown` forbid.
  readonly [name: string]: (...args: any[]) => unknown;
};

interface Question {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}

type Reply = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string });

export interface ChildOptions {
  readonly side: Side;
  /** Destination of standard output: the terminal, or /dev/null. Default `inherit`. */
  readonly output?: "inherit" | "ignore";
  /** Environment variables added to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

const running = new Set<ChildProcess>();

/** service-bot's own measured processes. `--profile` profiles these. */
const profiled = new Set<Child<Handlers>>();

/** Kills the processes that a failed benchmark left running. */
export async function endChildren(): Promise<void> {
  await Promise.all(
    [...running].map(async (process) => {
      const exited = once(process, "exit");
      process.kill("SIGKILL");
      await exited;
    }),
  );
}

/** Starts a CPU profile in every measured process that runs a program from `bench/processes`. */
export async function startProfiles(): Promise<void> {
  await Promise.all([...profiled].map((child) => child.call("startProfile")));
}

/** Stops the profiles. @param folder where to write `<program>-<pid>.cpuprofile` */
export async function stopProfiles(folder: string): Promise<void> {
  await Promise.all([...profiled].map((child) => child.call("stopProfile", folder)));
}

/** A child process, pinned to its side's core. */
export class Child<H extends Handlers> {
  readonly #process: ChildProcess;
  readonly #open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;

  /** @param file path in `bench/` of a program that calls {@link answer} */
  constructor(file: string, { side, output = "inherit", env = {} }: ChildOptions) {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    const stdio: StdioOptions = ["inherit", output, "inherit", "ipc"];
    const [execPath, ...execArgv] = onCore(side, [process.execPath]);
    this.#process = fork(path, {
      execPath,
      execArgv,
      stdio,
      env: { ...process.env, ...env },
    });
    if (side === "measured" && file.startsWith("processes/")) profiled.add(this);
    running.add(this.#process);
    this.#process.on("message", (reply: Reply) => this.#settle(reply));
    this.#process.once("exit", (code) => {
      running.delete(this.#process);
      profiled.delete(this);
      const error = new Error(`the process ${file} has ended (exit code ${code})`);
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
    });
  }

  call<N extends keyof H & string>(
    name: N,
    ...args: Parameters<H[N]>
  ): Promise<Awaited<ReturnType<H[N]>>> {
    return this.#ask(name, args) as Promise<Awaited<ReturnType<H[N]>>>;
  }

  /** CPU time of the process so far, in ms. A busy machine hardly affects it. */
  cpuMs(): Promise<number> {
    return this.#ask("cpuMs", []) as Promise<number>;
  }

  /** Returns what the process needs for some work. Counting commits takes some time. */
  async costsOf(work: () => Promise<unknown>): Promise<Costs> {
    await this.#ask("startCosts", []);
    await work();
    return (await this.#ask("stopCosts", [])) as Costs;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.disconnect();
    await exited;
  }

  #ask(name: string, args: readonly unknown[]): Promise<unknown> {
    this.#asked += 1;
    const question: Question = { id: this.#asked, name, args };
    return new Promise((resolve, reject) => {
      this.#open.set(question.id, { resolve, reject });
      this.#process.send(question, (error) => error && reject(error));
    });
  }

  #settle(reply: Reply): void {
    const question = this.#open.get(reply.id);
    this.#open.delete(reply.id);
    if ("error" in reply) question?.reject(new Error(reply.error));
    else question?.resolve(reply.value);
  }
}

const builtIn: Handlers = {
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  startCosts,
  stopCosts,
  startProfile,
  stopProfile,
};

/** Handles the benchmark's calls until the benchmark disconnects or dies. */
export function answer(own: Handlers): void {
  const handlers = { ...builtIn, ...own };
  process.on("message", async ({ id, name, args }: Question) => {
    let reply: Reply;
    try {
      reply = { id, value: await handlers[name]?.(...args) };
    } catch (error) {
      reply = {
        id,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      };
    }
    process.send?.(reply);
  });
  process.once("disconnect", () => process.exit(0));
}
