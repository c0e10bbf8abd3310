import type { Cluster } from "../../driver/cluster.ts";
import type { Random } from "../../random.ts";
import type { Scenario } from "../../scenario.ts";
import { type Attack, onCluster } from "./on-cluster.ts";

/** The bots get so long to answer something before the next one is killed, in milliseconds. */
const PATIENCE_MS = 3_000;

/** Kill -9 of one after the other while messages come and are answered. */
export const instanceKills: Scenario = onCluster({
  name: "kill -9 of instances under load",
  times: { small: 3, large: 100 },
  counted: "kills",
  cluster: { settings: { leaseMs: 1_500 } },
  begin: (cluster, random) => new Kills(cluster, random),
});

class Kills implements Attack {
  readonly #cluster: Cluster;
  readonly #random: Random;
  #midAnswer = 0;

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
  }

  async once(time: number): Promise<void> {
    const { ledger, bots } = this.#cluster;
    const place = this.#random.below(bots.length);
    const bot = bots[place];
    if (bot === undefined) return;
    // In the middle of an answer: the platform has it, and has not yet said so.
    const after = this.#random.below(80);
    const ignore = ledger.onSaid(after, () => bot.signal("SIGKILL"));
    await this.#cluster.moreSaid(after + 1, PATIENCE_MS);
    ignore();
    if (bot.killed) this.#midAnswer += 1;
    await bot.end("SIGKILL");
    await this.#cluster.checkAcknowledged(`after kill ${time}`);
    const next = this.#cluster.spawn(place);
    // Some are killed before they are ready.
    if (this.#random.chance(0.9)) await next.ready;
  }

  judge() {
    return { figures: { "of them in the middle of an answer": this.#midAnswer }, violations: [] };
  }
}
