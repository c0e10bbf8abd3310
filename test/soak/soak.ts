import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Child } from "../../bench/harness/child.ts";
import type { LocalPlatform } from "../../bench/processes/platform.ts";
import { ControlClient } from "../../src/cli/control-client.ts";
import { messageOf } from "../../src/errors.ts";
import { Random } from "../faults/random.ts";
import type { SoakBot } from "./bot.ts";
import { inflict, insisting } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { type Decided, Operator } from "./operator.ts";
import { planOf, type Span } from "./plan.ts";
import type { Reader } from "./reader.ts";
import { type Sample, sample } from "./sampler.ts";

export interface SoakOptions {
  /** For the database, the platform's state and the bot's log. */
  readonly folder: string;
  readonly seed: number;
  /** Events per second. */
  readonly rate: number;
  readonly seconds: number;
  /** Between two samples, in milliseconds. */
  readonly sampleMs: number;
  readonly onSample: (sample: Sample) => void;
  readonly tell: (line: string) => void;
}

/** What was done and seen. */
export interface SoakRun {
  readonly spans: readonly Span[];
  readonly events: number;
  readonly answered: number;
  readonly hopeless: number;
  readonly decided: Decided;
  /** Requests to the API that a fault has touched. */
  readonly faulted: number;
  /** Broken promises: events that were not answered exactly once. */
  readonly violations: readonly string[];
}

/**
 * How long what has ended is kept: shorter than by default, so that the file is swept several times within the run. Ids
 * outlive the longest time that the webhook is off.
 */
const RETENTION = { bodiesMs: 5 * 60_000, idsMs: 15 * 60_000, deadLettersMs: 30 * 60_000 };

const PLATFORM = { retryIntervalMs: 1_000, disableAfter: 1_000_000, deliveryTimeoutMs: 5_000 };

/** The rest has so long to be handled after the last event, in milliseconds. */
const SETTLE_MS = 300_000;

/** Between two looks whether it is, in milliseconds. */
const LOOK_MS = 1_000;

/** A bot, its platform, people, bad luck and somebody who looks after it all, for a while. */
export async function soak(options: SoakOptions): Promise<SoakRun> {
  const { folder, seed, rate, seconds, tell } = options;
  const databaseFile = join(folder, "bot.db");
  const platform = new Child<LocalPlatform>("processes/platform.ts");
  const bot = new Child<SoakBot>("../test/soak/bot.ts");
  const reader = new Child<Reader>("../test/soak/reader.ts");
  const ended = new AbortController();
  try {
    const stateFile = join(folder, "platform.db");
    const { url: baseUrl, ...secrets } = await platform.call("start", { ...PLATFORM, stateFile });
    const { url, pid: botPid } = await bot.call("start", {
      ...{ baseUrl, ...secrets, databaseUrl: `file:${databaseFile}`, retention: RETENTION },
      logFile: join(folder, "bot.log"),
    });
    const control = new ControlClient(baseUrl);
    await control.saveWebhook({ url: `${url}/webhook`, enabled: true });
    const ledger = new Ledger();
    const load = new Load({ control, ledger, random: new Random(seed), rate, seconds, tell });
    const operator = new Operator(`file:${databaseFile}`, ledger);
    const plan = planOf(seed, seconds);
    const faults = plan.spans.map(async ({ kind, from, to }) => {
      await load.reached(from);
      tell(`${kind} begins`);
      await inflict(kind, load.reached(to), {
        ask: insisting(control),
        botPid,
        reader,
        databaseFile,
      });
      tell(`${kind} ends`);
    });
    const rounds = plan.rounds.map(async (second) => {
      await load.reached(second);
      tell(`dead letters: ${await operator.round().catch(messageOf)}`);
    });
    const sampled = { bot, botPid, databaseFile, sent: () => load.sent };
    const watching = Promise.all([
      ledger.follow(control, ended.signal),
      sample(sampled, options.sampleMs, ended.signal, options.onSample),
    ]);
    await Promise.race([Promise.all([load.run(), ...faults, ...rounds]), watching]);
    tell("the load has ended");
    await settle(bot, operator, ledger);
    ended.abort();
    await watching;
    await bot.call("stop");
    const { events, answered, hopeless, faulted } = ledger;
    const { decided } = operator;
    const violations = ledger.violations();
    return { spans: plan.spans, events, answered, hopeless, decided, faulted, violations };
  } finally {
    ended.abort();
    await Promise.allSettled([bot.stop(), reader.stop(), platform.stop()]);
  }
}

/** Resolves when all is answered, nothing is pending, and a person has seen to the last dead letters. */
async function settle(bot: Child<SoakBot>, operator: Operator, ledger: Ledger): Promise<void> {
  const end = performance.now() + SETTLE_MS;
  let before = false;
  while (performance.now() < end) {
    const { pending, deadLetters } = await bot.call("sample");
    const settled = pending === 0 && deadLetters === 0 && ledger.isSettled;
    // Twice in a row: the ledger may not have seen the last events the first time.
    if (settled && before) return;
    before = settled;
    if (deadLetters > 0) await operator.round();
    await wait(LOOK_MS);
  }
}
