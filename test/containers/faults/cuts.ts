import { setTimeout as wait } from "node:timers/promises";
import type { Attack, Judgement, Stage } from "../../faults/driver/fault.ts";
import type { Store } from "../../faults/driver/store.ts";
import { median } from "../../faults/report.ts";
import { isOk } from "../support/container.ts";
import type { FaultBots } from "../support/fault-bots.ts";

/** In ms. For an answer on a busy machine. */
const ANSWER_TIMEOUT_MS = 30_000;

/** In ms. */
const MIN_CUT_MS = 500;

export interface CutOptions {
  readonly bots: FaultBots;
  /** The network that a bot loses. */
  readonly network: string;
  /** In ms, at most. Shorter than the deadline of a request, within which the system sends what was cut off. */
  readonly maxMs: number;
  /** True if a bot without the network is not ready, as seen from this machine. Default true. */
  readonly endsReadiness?: boolean;
}

/** `docker network disconnect` of a bot under load, and `connect` some time later. */
export class Cuts<S extends Store> implements Attack {
  readonly #stage: Stage<S>;
  readonly #options: CutOptions;
  /** In ms. From each connection until the next answer. */
  readonly #recoveryMs: number[] = [];
  /** Deliveries that no bot has taken. Of several bots another one takes them. */
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
    const { bots, network, maxMs, endsReadiness = true } = this.#options;
    await world.waitForMore(10 + random.below(10), ANSWER_TIMEOUT_MS);
    const bot = bots.at(random.below(world.bots.length));
    await bots.disconnect(bot, network);
    await wait(MIN_CUT_MS + random.below(maxMs - MIN_CUT_MS));
    if (endsReadiness && (await isOk(`${bot.url}/readyz`))) {
      world.violations.push(`nothing was cut, time ${time}`);
    }
    await bots.connect(bot, network);
    const back = performance.now();
    if (await world.waitForMore(1, ANSWER_TIMEOUT_MS)) {
      this.#recoveryMs.push(performance.now() - back);
    } else world.violations.push(`nothing was said after the network was back, time ${time}`);
  }

  judge(): Judgement {
    const figures = {
      "deliveries that failed": this.#failed,
      "until the next answer, median (ms)": Math.round(median(this.#recoveryMs)),
      "until the next answer, worst (ms)": Math.round(Math.max(...this.#recoveryMs)),
    };
    return { figures };
  }
}
