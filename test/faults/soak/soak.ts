import { setTimeout as wait } from "node:timers/promises";
import { messageOf } from "../../faces/errors.ts";
import { checkSaid } from "../driver/checker.ts";
import { Tally } from "../driver/timeline.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun } from "../scenario.ts";
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
  return {
    name: `${seconds / 60} minutes of work, ${rate} events a second`,
    run: (run) => runSoak(options, run),
  };
}

async function runSoak(
  { rate, seconds, atLeast = 0, sampleMs = 5_000 }: SoakOptions,
  { seed, progress }: Pick<ScenarioRun, "seed" | "progress">,
): Promise<Outcome> {
  const world = await World.start({
    platform: { retryIntervalMs: 1_000, deliveryTimeoutMs: 5_000 },
    settings: {
      ...{ answers: 1, requestTimeoutMs: 10_000, silenceMs: 20_000, retention },
      retry: { baseMs: 100, maxMs: 5_000 },
    },
    // Few attempts, so that the bot gives up on a hopeless event within seconds.
    env: { MAX_ATTEMPTS: "5", POLL_INTERVAL_MS: "1000", AUDIT_INTERVAL_MS: "15000" },
  });
  const operator = new Operator(world);
  const ended = new AbortController();
  const { signal } = ended;
  const samples: Sample[] = [];
  const faulted = new Tally(world.platform, "api", ({ fault }) => fault !== undefined);
  try {
    const bot = await world.boot();
    const crowd = new Crowd(world, new Random(seed), { rate, seconds, atLeast });
    const spans = planOf(seed, seconds);
    const watching = watch();
    const happening = [crowd.run(signal), inflictBadLuck(world, spans, crowd, progress)];
    // A failed sample ends the run.
    await Promise.race([Promise.all(happening), watching]);
    await settle();
    ended.abort();
    await watching;
    await world.stop(bot);
    const { written } = world.ledger;
    const { integrity } = await world.store.contents();
    const verdict = judgeSeries(samples, spans, seconds);
    progress(`the resources:\n\n${verdict.table}\n`);
    const violations = [
      ...world.violations,
      ...checkSaid({ written, said: world.ledger.sayings() }, { order: "any" }),
      ...(integrity === "ok" ? [] : [`integrity_check: ${integrity}`]),
      ...verdict.violations,
    ];
    const hopeless = written.filter(({ ends }) => ends === "dead").length;
    const figures = {
      ...{ events: written.length, hopeless, ...operator.decided },
      ...{ "spans of bad luck": spans.length, "requests that a fault touched": faulted.count },
    };
    return { figures, violations };
  } finally {
    ended.abort();
    await world.close();
  }

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
}
