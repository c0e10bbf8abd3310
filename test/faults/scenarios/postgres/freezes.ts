import { setTimeout as wait } from "node:timers/promises";
import type { BotProcess } from "../../driver/bot-process.ts";
import { repeats } from "../../driver/checker.ts";
import type { Cluster } from "../../driver/cluster.ts";
import { beingSaid } from "../../driver/journal.ts";
import { sum } from "../../driver/numbers.ts";
import type { Random } from "../../random.ts";
import type { Scenario } from "../../scenario.ts";
import { type Attack, onCluster } from "./on-cluster.ts";

const LEASE_MS = 1_500;

/** What a bot is thawed into has to be under way; so long it works before it stands still, in milliseconds. */
const WORK_MS = 1_000;

/** SIGSTOP for 1 to 3 leases, then SIGCONT: what was under way goes on as if no time had passed. */
export const frozenInstances: Scenario = onCluster({
  name: "SIGSTOP of instances for 1 to 3 leases under load",
  times: { small: 2, large: 40 },
  counted: "times frozen",
  cluster: { settings: { leaseMs: LEASE_MS } },
  begin: (cluster, random) => new Freezes(cluster, random),
});

class Freezes implements Attack {
  readonly #cluster: Cluster;
  readonly #random: Random;
  /** How often each text may be said once more: a bot stood still between its intent and its outcome. */
  readonly #underWay = new Map<string, number>();

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
  }

  async once(time: number): Promise<void> {
    const { bots } = this.#cluster;
    await this.#cluster.moreSaid(20, WORK_MS);
    await wait(this.#random.below(100));
    const first = this.#random.below(bots.length);
    // Now and then two of them at once.
    const more = this.#random.chance(0.3) ? [(first + 1) % bots.length] : [];
    const frozen = [first, ...more].map((place) => bots[place]).filter((bot) => bot !== undefined);
    await Promise.all(frozen.map((bot) => this.#freeze(bot)));
    await wait(LEASE_MS * (1 + 2 * this.#random.next()));
    for (const bot of frozen) bot.thaw();
    await this.#cluster.checkAcknowledged(`after time ${time}`);
  }

  rules() {
    return { mayRepeat: this.#underWay };
  }

  judge(observed: Parameters<typeof repeats>[0]) {
    const underWay = sum(this.#underWay.values());
    const figures = {
      "answers under way when it stood still": underWay,
      "said again by a thawed one": repeats(observed),
    };
    const tried = underWay > 0;
    const violations = tried ? [] : ["nothing was tried: no answer was under way in any freeze"];
    return { figures, violations };
  }

  async #freeze(bot: BotProcess): Promise<void> {
    await bot.freeze();
    for (const text of beingSaid(this.#cluster.journal(), bot.pid)) {
      this.#underWay.set(text, (this.#underWay.get(text) ?? 0) + 1);
    }
  }
}
