import { setTimeout as wait } from "node:timers/promises";
import { type Behaviour, numberOf } from "../bot/behaviours.ts";
import type { BotUnderTest } from "../driver/bot-under-test.ts";
import { isOwn } from "../driver/checker.ts";
import { type Attack, type Fault, onOneBot, type Stage } from "../driver/fault.ts";
import type { Store } from "../driver/store.ts";
import {
  type Arrival,
  checkFired,
  checkMoments,
  checkTimers,
  checkWaiting,
  type Life,
  latenessOf,
  type Reminder,
} from "../driver/timers.ts";
import type { World } from "../driver/world.ts";
import type { Scenario, Size } from "../scenario.ts";
import { onCluster, short } from "./cluster.ts";

const NAME = "kill -9 of a bot with timers and a cron of every second";

const PEOPLE = 40;

const REMINDERS = 20;

/** Longest delay of a timer, in ms. In a large run, timers outlive several processes. */
const MAX_DELAY_MS: Readonly<Record<Size, number>> = { small: 4_000, large: 60_000 };

/** Longest lifetime of a process, and longest downtime after it, in ms. */
const MAX_LIFE_MS = 6_000;
const MAX_PAUSE_MS = 4_000;

/** Time limit for the last replies on a busy machine, in ms. */
const ANSWERS_TIMEOUT_MS = 30_000;

const EVERY_SECOND = "* * * * * *";

const fault: Pick<Fault<Store>, "counted" | "times" | "begin"> = {
  ...{ counted: "kills", times: { small: 4, large: 50 } },
  begin: async (stage) => {
    const { world } = stage;
    const text = "hello @bot";
    const { postId } = world.ledger.act({ type: "mention", from: "ada", text });
    if (postId === undefined) throw new Error("no post was made");
    const arrivals: Arrival[] = [];
    world.platform.onTimeline((entry) => {
      if (entry.kind !== "api" || entry.created === undefined) return;
      arrivals.push({ text: entry.text ?? "", at: Date.parse(entry.at) - entry.ms });
    });
    await world.restart({ cron: { pattern: EVERY_SECOND, postId } });
    if (world.bots.length === 0) await world.boot();
    return killWithTimers(stage, arrivals);
  },
};

export const timers: Scenario = onOneBot({ name: NAME, ...fault });

/** Runs three instances, which die in turn and sometimes all at once. */
export const clusterTimers: Scenario = onCluster(`postgres, three instances: ${NAME}`, [
  { ...fault, settings: short },
]);

function killWithTimers(stage: Stage<Store>, arrivals: readonly Arrival[]): Attack {
  const { world, random, size } = stage;
  const users = new Users(stage);
  const lives = new Lives(world);
  let stoppedAt = 0;
  return {
    /** Writes messages while the bots are running. Then kills one or all of them, and restarts them after a pause. */
    async once(time) {
      const lifeMs = 1_000 + random.below(MAX_LIFE_MS - 1_000);
      const end = performance.now() + lifeMs;
      for (let n = 0; n < REMINDERS; n++) {
        users.remind();
        await wait(random.below((2 * lifeMs) / (REMINDERS + 2)));
      }
      users.setFar();
      if (random.chance(0.5)) users.cancelFar();
      await wait(Math.max(0, end - performance.now()));
      const one = random.below(world.bots.length);
      const isOutage = time % 3 === 0;
      const places = isOutage ? [...world.bots.keys()] : [one];
      await Promise.all(places.map((place) => lives.end(place, time)));
      if (isOutage) await wait(MAX_PAUSE_MS / 2 + random.below(MAX_PAUSE_MS / 2));
      await Promise.all(places.map((place) => lives.begin(place)));
    },
    async end() {
      const { ledger } = world;
      if (!(await ledger.waitSaid(ledger.due, MAX_DELAY_MS[size] + ANSWERS_TIMEOUT_MS))) {
        world.violations.push(`lost: ${ledger.due - ledger.said} replies were never sent`);
      }
      stoppedAt = Date.now();
    },
    /** A timer's reply comes long after the replies to later messages. */
    rules: () => ({ order: "any" }),
    async judge({ written }) {
      const { reminders, far, cancelled } = users;
      const { states, timers, ownEvents } = await world.store.layer();
      const [ticks, fired] = partition(ownEvents, ({ type }) => type.startsWith("cron:"));
      const [answers, dues] = partition(arrivals, ({ text }) => isOwn(text));
      const moments = checkMoments(ticks, answers, lives.until(stoppedAt), stoppedAt);
      const figures = {
        messages: written.length,
        timers: reminders.length,
        ...latenessOf("timer", fired, dues),
        "timers an hour away": far.size + cancelled,
        "of them cancelled": cancelled,
        "seconds with an instance up": moments.owed,
        "seconds without": moments.missed,
        ...latenessOf("cron", ticks, answers),
      };
      const violations = [
        ...checkTimers(reminders, fired, dues),
        ...checkWaiting(far.keys(), timers),
        ...checkFired(reminders.length, states),
        ...moments.violations,
      ];
      return { figures, violations };
    },
  };
}

/** Users who set and cancel timers. */
class Users {
  readonly reminders: Reminder[] = [];
  /** Maps the number of each timer due in an hour to its user. */
  readonly far: Map<number, string> = new Map();
  cancelled = 0;
  readonly #stage: Stage<Store>;

  constructor(stage: Stage<Store>) {
    this.#stage = stage;
  }

  /** Writes a message that sets a timer due within the run. One in ten sets it twice under the same key. */
  remind(): void {
    const { random, size } = this.#stage;
    const delayMs = 100 + random.below(MAX_DELAY_MS[size] - 100);
    const writtenAt = Date.now();
    const { number } = this.#write(random.chance(0.1) ? "rekey" : "remind", String(delayMs));
    this.reminders.push({ number, delayMs, writtenAt });
  }

  setFar(): void {
    const { number, from } = this.#write("far");
    this.far.set(number, from);
  }

  cancelFar(): void {
    const [number, from] = this.#stage.random.pick([...this.far]);
    this.#write("cancel", String(number), from);
    this.far.delete(number);
    this.cancelled += 1;
  }

  #write(behaviour: Behaviour, note = "", from = `person${this.#stage.random.below(PEOPLE)}`) {
    const { text } = this.#stage.world.ledger.write({ from, behaviour, note });
    return { number: numberOf(text), from };
  }
}

/** When each process of a bot ran. */
class Lives {
  readonly #world: World<Store>;
  readonly #lives = new Map<BotUnderTest, { startedAt: number; from: number; to?: number }>();

  constructor(world: World<Store>) {
    this.#world = world;
    const from = Date.now();
    for (const bot of world.bots) this.#lives.set(bot, { startedAt: from, from });
  }

  async begin(place: number): Promise<void> {
    const startedAt = Date.now();
    const bot = await this.#world.boot({}, place);
    this.#lives.set(bot, { startedAt, from: Date.now() });
  }

  async end(place: number, time: number): Promise<void> {
    const bot = this.#world.bots[place];
    if (bot === undefined) return;
    const life = this.#lives.get(bot);
    if (life !== undefined) life.to = Date.now();
    await this.#world.kill(bot, `after kill ${time}`);
  }

  /** @param stoppedAt end of the lives that go on */
  until(stoppedAt: number): readonly Life[] {
    return [...this.#lives.values()].map(({ to = stoppedAt, ...life }) => ({ ...life, to }));
  }
}

function partition<T>(
  all: readonly T[],
  fits: (item: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  return [all.filter(fits), all.filter((item) => !fits(item))];
}
