import { Child } from "../harness/child.ts";
import { makeFolder } from "./folder.ts";
import type { QueueProcess } from "./queue.ts";

/** SQLite files with a queue each, and the processes that use them. */
export class QueueFiles {
  readonly #folder = makeFolder();
  readonly #processes: Child<QueueProcess>[] = [];

  peer(name: "plainjob"): Promise<Child<QueueProcess>> {
    return this.#open(`peers/${name}.mjs`, name);
  }

  ours(name = "ours"): Promise<Child<QueueProcess>> {
    return this.#open("processes/queue.ts", name);
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.call("close")));
    await Promise.all(this.#processes.map((process) => process.stop()));
    this.#folder.remove();
  }

  async #open(program: string, name: string): Promise<Child<QueueProcess>> {
    const process = new Child<QueueProcess>(program, { side: "measured" });
    this.#processes.push(process);
    await process.call("open", { url: `file:${this.#folder.file(`${name}.db`)}`, schema: "" });
    return process;
  }
}
