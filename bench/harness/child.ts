import { type ChildProcess, fork, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a process of a benchmark can be asked; arguments and results are plain data. */
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

/** Those that have not ended. */
const running = new Set<ChildProcess>();

/** Ends what a benchmark that failed has left behind. */
export async function endChildren(): Promise<void> {
  await Promise.all(
    [...running].map(async (process) => {
      const exited = once(process, "exit");
      process.kill("SIGKILL");
      await exited;
    }),
  );
}

/** A process of its own, so that what is measured shares its core with nobody. */
export class Child<H extends Handlers> {
  readonly #process: ChildProcess;
  readonly #open = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #asked = 0;

  /**
   * Runs a file by its path in `bench/`; it calls {@link answer}.
   *
   * @param output where its standard output goes: to the terminal, or into a pipe that is read and forgotten
   */
  constructor(
    file: string,
    execArgv: readonly string[] = [],
    output: "inherit" | "pipe" = "inherit",
  ) {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    const stdio: StdioOptions = ["inherit", output, "inherit", "ipc"];
    this.#process = fork(path, { execArgv: [...execArgv], stdio });
    running.add(this.#process);
    this.#process.stdout?.resume();
    this.#process.on("message", (reply: Reply) => this.#settle(reply));
    this.#process.once("exit", (code) => {
      running.delete(this.#process);
      const error = new Error(`the process ${file} has ended (exit code ${code})`);
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
    });
  }

  call<N extends keyof H & string>(
    name: N,
    ...args: Parameters<H[N]>
  ): Promise<Awaited<ReturnType<H[N]>>> {
    this.#asked += 1;
    const question: Question = { id: this.#asked, name, args };
    return new Promise((resolve, reject) => {
      this.#open.set(question.id, { resolve: resolve as (value: unknown) => void, reject });
      this.#process.send(question, (error) => error && reject(error));
    });
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.disconnect();
    await exited;
  }

  #settle(reply: Reply): void {
    const question = this.#open.get(reply.id);
    this.#open.delete(reply.id);
    if ("error" in reply) question?.reject(new Error(reply.error));
    else question?.resolve(reply.value);
  }
}

/** The side of the process: answers until the benchmark lets go of it, or dies. */
export function answer(handlers: Handlers): void {
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
