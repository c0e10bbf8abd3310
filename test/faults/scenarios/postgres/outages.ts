import { setTimeout as wait } from "node:timers/promises";
import type { Cluster } from "../../driver/cluster.ts";
import { median } from "../../driver/numbers.ts";
import type { Scenario } from "../../scenario.ts";
import { type Attack, onCluster } from "./on-cluster.ts";

/** So long nothing may be handled after the database is back, in milliseconds. */
const PATIENCE_MS = 20_000;

/** How long an answer of the database may take, in milliseconds; usually it is ten times that. */
const DATABASE_TIMEOUT_MS = 1_000;

const cluster = { settings: { leaseMs: 3_000, databaseTimeoutMs: DATABASE_TIMEOUT_MS } };

/** The server stops, with and without saying so, and comes back. */
export const databaseRestarts: Scenario = onCluster({
  name: "restart of the database, fast and immediate, under load",
  times: { small: 2, large: 50 },
  counted: "restarts",
  cluster,
  begin: (cluster, random) =>
    new Outages(cluster, async (time) => {
      await cluster.server.end(time % 2 === 0 ? "immediate" : "fast");
      await wait(random.below(1_000));
      await cluster.server.begin();
    }),
});

/** Connections stay, and nothing goes through them any more; new ones work again after a while. */
export const halfOpen: Scenario = onCluster({
  name: "connections to the database go half-open under load",
  times: { small: 2, large: 30 },
  counted: "times half-open",
  cluster,
  begin: (cluster, random) =>
    new Outages(cluster, async () => {
      cluster.proxy.dropFrozen();
      cluster.proxy.freeze();
      await wait(random.below(2 * DATABASE_TIMEOUT_MS));
      cluster.proxy.mend();
    }),
});

/** The server ends every connection of the bots at once. */
export const terminations: Scenario = onCluster({
  name: "all connections terminated under load",
  times: { small: 6, large: 200 },
  counted: "times terminated",
  cluster,
  begin: (cluster) => {
    let ended = 0;
    const strike = async () => {
      const before = ended;
      ended += await cluster.database.terminateAll();
      if (ended === before) cluster.violations.push("no connection was there to be ended");
    };
    return new Outages(cluster, strike, () => ({ "connections ended": ended }));
  },
});

/** The database is away for a while, again and again. */
class Outages implements Attack {
  readonly #cluster: Cluster;
  readonly #strike: (time: number) => Promise<void>;
  readonly #figures: () => Record<string, number>;
  /** From the end of each outage until an answer was said. */
  readonly #recoveryMs: number[] = [];

  /** @param figures what else is told */
  constructor(
    cluster: Cluster,
    strike: (time: number) => Promise<void>,
    figures: () => Record<string, number> = () => ({}),
  ) {
    this.#cluster = cluster;
    this.#strike = strike;
    this.#figures = figures;
  }

  async once(time: number): Promise<void> {
    await this.#cluster.moreSaid(10, PATIENCE_MS);
    await this.#strike(time);
    const back = performance.now();
    if (!(await this.#cluster.moreSaid(1, PATIENCE_MS))) {
      this.#cluster.violations.push(`nothing was said after time ${time}`);
    }
    this.#recoveryMs.push(performance.now() - back);
    await this.#cluster.checkAcknowledged(`after time ${time}`);
  }

  judge() {
    const figures = {
      ...this.#figures(),
      "until the next answer, median (ms)": Math.round(median(this.#recoveryMs)),
      "until the next answer, worst (ms)": Math.round(Math.max(...this.#recoveryMs)),
    };
    return { figures, violations: [] };
  }
}
