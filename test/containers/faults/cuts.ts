import { setTimeout as wait } from "node:timers/promises";
import type { Observed } from "../../faults/driver/checker.ts";
import type { Attack, Judgement, Stage } from "../../faults/driver/fault.ts";
import type { Store } from "../../faults/driver/store.ts";
import { median } from "../../faults/report.ts";
import type { FaultBots } from "../support/fault-bots.ts";

const ANSWER_TIMEOUT_MS = 30_000;

const MIN_CUT_MS = 500;

export interface CutOptions {
  readonly bots: FaultBots;
  readonly network: string;
  /** A URL that a bot can reach only through this network. */
  readonly peer: URL;
  readonly maxMs: number;
  /** Returns true if all bots should lose the network this time. Default: never. */
  readonly isForAll?: (time: number) => boolean;
  /** True if an event may use up another attempt, because another bot takes it over. Default: false. */
  readonly mayCount?: boolean;
}

/** Disconnects bots under load from a network, and reconnects them later. */
export class Cuts<S extends Store> implements Attack {
  readonly #stage: Stage<S>;
  readonly #options: CutOptions;
  readonly #recoveryMs: number[] = [];
  #failed = 0;

  constructor(stage: Stage<S>, options: CutOptions) {
    this.#stage = stage;
    this.#options = options;
    stage.world.platform.onTimeline((entry) => {
      if (entry.kind === "delivery" && entry.error !== undefined) this.#failed += 1;
    });
  }

  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const { bots, network, peer, maxMs, isForAll = () => false } = this.#options;
    await world.waitForMore(10 + random.below(10), ANSWER_TIMEOUT_MS);
    const one = random.below(world.bots.length);
    const places = isForAll(time) ? [...world.bots.keys()] : [one];
    const cut = places.map((place) => bots.at(place));
    for (const bot of cut) {
      if (!(await bots.reaches(bot, peer))) world.violations.push(`no way to cut, time ${time}`);
    }
    await Promise.all(cut.map((bot) => bots.disconnect(bot, network)));
    const until = performance.now() + MIN_CUT_MS + random.below(maxMs - MIN_CUT_MS);
    for (const bot of cut) {
      if (await bots.reaches(bot, peer)) world.violations.push(`nothing was cut, time ${time}`);
    }
    await wait(Math.max(0, until - performance.now()));
    await Promise.all(cut.map((bot) => bots.connect(bot, network)));
    const back = performance.now();
    if (await world.waitForMore(1, ANSWER_TIMEOUT_MS)) {
      this.#recoveryMs.push(performance.now() - back);
    } else world.violations.push(`there was no reply after the network was back, time ${time}`);
  }

  judge({ stored }: Observed): Judgement {
    const { world } = this.#stage;
    const counted = stored.filter(({ attempts }) => attempts > 1);
    const runs = world.runs();
    const ids = new Set(runs.map(({ id }) => id));
    const figures = {
      "deliveries that failed": this.#failed,
      "runs of an event again": runs.length - ids.size,
      "events with a further attempt": counted.length,
      "until the next answer, median (ms)": Math.round(median(this.#recoveryMs)),
      "until the next answer, worst (ms)": Math.round(Math.max(...this.#recoveryMs)),
    };
    if (this.#options.mayCount) return { figures };
    const violations = counted.map(
      ({ id, attempts }) => `${id}: an outage counts, ${attempts} attempts`,
    );
    return { figures, violations };
  }
}
