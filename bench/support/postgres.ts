import { look } from "../../test/support/postgres/look.ts";
import { PostgresServer } from "../../test/support/postgres/server.ts";
import type { Samples } from "../harness/benchmark.ts";
import { Child } from "../harness/child.ts";
import type { Measured, QueueProcess } from "./queue.ts";
import { costSamples, readWrites } from "./writes.ts";

/** The setting from docs/operate/scaling.md. The test server's default of 1 s would be unrealistic here. */
const SETTINGS = ["autovacuum_naptime=10"];

/** A PostgreSQL server and the queue processes that use it, each in its own schema. */
export class Queues {
  readonly #server: PostgresServer;
  readonly #processes: Child<QueueProcess>[] = [];

  private constructor(server: PostgresServer) {
    this.#server = server;
  }

  static async start(): Promise<Queues> {
    return new Queues(await PostgresServer.start("18", SETTINGS));
  }

  async peer(name: "graphile-worker" | "pg-boss"): Promise<Child<QueueProcess>> {
    const peer = new Child<QueueProcess>(`peers/${name}.mjs`, { side: "measured" });
    this.#processes.push(peer);
    await peer.call("open", {
      url: this.#server.url(),
      schema: `bench_${name.replaceAll("-", "_")}`,
    });
    return peer;
  }

  async ours(schema = "bench_ours"): Promise<Child<QueueProcess>> {
    const ours = new Child<QueueProcess>("processes/queue.ts", { side: "measured" });
    this.#processes.push(ours);
    await ours.call("open", { url: this.#server.url(), schema });
    return ours;
  }

  /** Vacuums and writes a checkpoint now, so that neither happens in the middle of a measurement. */
  async settle(): Promise<void> {
    const server = { url: this.#server.url() };
    await look(server, "VACUUM ANALYZE");
    await look(server, "CHECKPOINT");
  }

  /** Measures what `work` costs the server per event besides time. */
  async withCosts(
    name: string,
    events: number,
    work: () => Promise<Measured>,
  ): Promise<{ readonly ms: number; readonly costs: Samples }> {
    const url = this.#server.url();
    const before = await readWrites(url);
    const { ms, trips } = await work();
    const after = await readWrites(url);
    return { ms, costs: costSamples(name, events, { before, after, trips }) };
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.call("close")));
    await Promise.all(this.#processes.map((process) => process.stop()));
    await this.#server.stop();
  }
}
