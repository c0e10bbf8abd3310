import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../faces/errors.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
import { Tally } from "../driver/timeline.ts";
import type { Scenario } from "../scenario.ts";
import { inflictBadLuck, planOf } from "./bad-luck.ts";
import { Crowd } from "./crowd.ts";
import { Operator } from "./operator.ts";
import { judgeSeries, type Sample, takeSample } from "./series.ts";

export interface SoakOptions {
  /** Events per second. */
  readonly rate: number;
  readonly seconds: number;
  /** Number of events after which the load may end. Default: 0. */
  readonly atLeast?: number;
  /** Default: 5,000 ms. */
  readonly sampleMs?: number;
}

/**
 * Shorter than the defaults, so that the file is swept during the run. Event ids are still kept longer than any webhook
 * outage. In ms.
 */
const retention = { bodiesMs: 5 * 60_000, idsMs: 15 * 60_000, deadLettersMs: 30 * 60_000 };

/** Time limit for the last events after the load has ended, in ms. */
const SETTLE_TIMEOUT_MS = 300_000;

const MINUTE_MS = 60_000;

/** Runs one bot under load for a while, with faults and an operator. Each resource must reach a plateau. */
export function soak(options: SoakOptions): Scenario {
  const { rate, seconds } = options;
  return onOneBot({
    name: `${seconds / 60} minutes of work, ${rate} events a second`,
    counted: "runs",
    times: { small: 1, large: 1 },
    world: {
      platform: { retryIntervalMs: 1_000, deliveryTimeoutMs: 5_000 },
      settings: {
        ...{ answers: 1, requestTimeoutMs: 10_000, silenceMs: 20_000, retention },
        retry: { baseMs: 100, maxMs: 5_000 },
      },
      // Few attempts, so that the bot gives up on a hopeless event within seconds.
      env: { MAX_ATTEMPTS: "5", POLL_INTERVAL_MS: "1000", AUDIT_INTERVAL_MS: "15000" },
    },
    isBooted: true,
    begin: (stage) => work(stage, options),
  });
}

function work(stage: Stage, options: SoakOptions): Attack {
  const { world, random, progress } = stage;
  const { rate, seconds, atLeast = 0, sampleMs = 5_000 } = options;
  const operator = new Operator(world);
  const crowd = new Crowd(world, random, { rate, seconds, atLeast });
  const spans = planOf(random.below(2 ** 31), seconds);
  const faulted = new Tally(world.platform, "api", ({ fault }) => fault !== undefined);
  const samples: Sample[] = [];
  const ended = new AbortController();
  const { signal } = ended;

  async function watch(): Promise<void> {
    const began = performance.now();
    while (!signal.aborted) {
      const sample = await takeSample(world, (performance.now() - began) / 1000);
      samples.push(sample);
      await world.checkAcknowledged(`after ${sample.at} s`);
      if (samples.length % Math.ceil(MINUTE_MS / sampleMs) === 1) {
        const figures = Object.entries(sample).map(([name, value]) => `${name} ${value}`);
        progress(figures.join(", "));
        if (sample.deadLetters > 0) progress(await operator.round().then(String, messageOf));
      }
      await wait(sampleMs, undefined, { signal }).catch(() => undefined);
    }
  }

  function isAnswered(): boolean {
    const due = world.ledger.written.filter(({ ends }) => ends !== "dead").length;
    return world.ledger.answers >= due;
  }

  /** Resolves when no event is pending or dead, and every event has its reply. */
  async function settle(): Promise<void> {
    const end = performance.now() + SETTLE_TIMEOUT_MS;
    while (performance.now() < end) {
      await world.ledger.waitAnswer(300);
      const { pending, deadLetters } = await takeSample(world, 0);
      if (pending === 0 && deadLetters === 0 && isAnswered()) return;
      if (deadLetters > 0) await operator.round();
    }
    world.violations.push("stuck: events are pending or dead after the load");
  }

  return {
    async once() {
      const watching = watch();
      const happening = [crowd.run(signal), inflictBadLuck(world, spans, crowd, progress)];
      // A failed sample ends the run.
      await Promise.race([Promise.all(happening), watching]);
      await settle();
      ended.abort();
      await watching;
    },
    rules: () => ({ order: "any", keeps: "some events" }),
    judge({ written }) {
      const { table, violations } = judgeSeries(samples, spans, seconds);
      progress(`the resources:\n\n${table}\n`);
      const hopeless = written.filter(({ ends }) => ends === "dead").length;
      const figures = {
        ...{ events: written.length, hopeless, ...operator.decided },
        ...{ "spans of bad luck": spans.length, "requests that a fault touched": faulted.count },
      };
      return { figures, violations };
    },
    close: () => ended.abort(),
  };
}
