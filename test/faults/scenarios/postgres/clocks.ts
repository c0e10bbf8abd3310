import type { Observed } from "../../driver/checker.ts";
import type { Cluster } from "../../driver/cluster.ts";
import type { Random } from "../../random.ts";
import type { Scenario } from "../../scenario.ts";
import { type Attack, onCluster } from "./on-cluster.ts";

const HOUR_MS = 3_600_000;

const jumps = [HOUR_MS, -HOUR_MS] as const;

/** The clock of one instance is set by an hour, forwards or back, and right again. */
export const clockJumps: Scenario = onCluster({
  name: "the clock of an instance jumps by ±1 h under load",
  times: { small: 4, large: 60 },
  counted: "jumps",
  begin: (cluster, random) => new Jumps(cluster, random),
});

class Jumps implements Attack {
  readonly #cluster: Cluster;
  readonly #random: Random;
  /** Deliveries that a bot took for old, or for sent in the future: the platform sends them again. */
  #refused = 0;

  constructor(cluster: Cluster, random: Random) {
    this.#cluster = cluster;
    this.#random = random;
    cluster.platform.onTimeline((entry) => {
      if (entry.kind === "delivery" && entry.status === 400) this.#refused += 1;
    });
  }

  async once(time: number): Promise<void> {
    const { bots } = this.#cluster;
    const place = this.#random.below(bots.length);
    const jump = this.#random.pick(jumps);
    // One of them is right at any time, for deliveries are dated by the time of day.
    if (place === 0 || !this.#random.chance(0.2)) {
      bots[place]?.order({ clockOffsetMs: jump });
      await this.#cluster.moreSaid(20 + this.#random.below(20), 5_000);
      bots[place]?.order({ clockOffsetMs: 0 });
    } else {
      // What a bot takes for the time begins with what the system says at its start.
      await this.#restart(place, jump);
      await this.#cluster.moreSaid(20, 5_000);
      await this.#restart(place, 0);
    }
    await this.#cluster.checkAcknowledged(`after jump ${time}`);
  }

  /** Nobody was killed, and nobody stood still: there is no reason for a second run of anything. */
  judge({ stored }: Observed) {
    const again = stored.filter(({ attempts }) => attempts !== 1);
    const violations = again.map(({ id, attempts }) => `${id} had ${attempts} runs, not one`);
    if (this.#refused === 0) violations.push("no delivery was refused: no clock has moved");
    const figures = {
      "deliveries refused for their date": this.#refused,
      "events that ran twice": again.length,
    };
    return { figures, violations };
  }

  async #restart(place: number, clockOffsetMs: number): Promise<void> {
    const bot = this.#cluster.bots[place];
    if (bot !== undefined) await this.#cluster.stop(bot);
    const next = this.#cluster.spawn(place, { clockOffsetMs });
    if ((await next.ready) === undefined) {
      this.#cluster.violations.push(`a bot did not start:\n${next.tail()}`);
    }
  }
}
