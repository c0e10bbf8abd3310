import { setTimeout as wait } from "node:timers/promises";
import type { TimelineEntry } from "../../faces/platform.ts";
import { type Behaviour, numberOf } from "../bot/behaviours.ts";
import type { BotProcess } from "../driver/bot-process.ts";
import { isOwn, type Observed } from "../driver/checker.ts";
import { type Attack, type Fault, type Judgement, onOneBot, type Stage } from "../driver/fault.ts";
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

const fault: Pick<Fault<Store>, "name" | "counted" | "times" | "begin"> = {
  ...{ name: NAME, counted: "kills", times: { small: 4, large: 50 } },
  begin: async (stage) => {
    const { world } = stage;
    const attack = new Timers(stage);
    const text = "hello @bot";
    const { postId } = world.ledger.act({ type: "mention", from: "ada", text });
    if (postId === undefined) throw new Error("no post was made");
    await world.restart({ cron: { pattern: EVERY_SECOND, postId } });
    if (world.bots.length === 0) await world.boot();
    attack.begin();
    return attack;
  },
};

export const timers: Scenario = onOneBot(fault);

/** Runs three instances, which die in turn and sometimes all at once. */
export const clusterTimers: Scenario = onCluster(`postgres, three instances: ${NAME}`, [
  { ...fault, settings: short, load: "none" },
]);

class Timers implements Attack {
  readonly #stage: Stage<Store>;
  readonly #reminders: Reminder[] = [];
  readonly #arrivals: Arrival[] = [];
  readonly #lives = new Map<BotProcess, { startedAt: number; from: number; to?: number }>();
  /** Maps the number of each timer due in an hour to its user. */
  readonly #far = new Map<number, string>();
  #cancelled = 0;
  #stoppedAt = 0;

  constructor(stage: Stage<Store>) {
    this.#stage = stage;
    stage.world.platform.onTimeline((entry) => this.#note(entry));
  }

  begin(): void {
    const from = Date.now();
    for (const bot of this.#stage.world.bots) this.#lives.set(bot, { startedAt: from, from });
  }

  /** Writes messages while the bots are running. Then kills one or all of them, and restarts them after a pause. */
  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const lifeMs = 1_000 + random.below(MAX_LIFE_MS - 1_000);
    const end = performance.now() + lifeMs;
    for (let n = 0; n < REMINDERS; n++) {
      this.#remind();
      await wait(random.below((2 * lifeMs) / (REMINDERS + 2)));
    }
    this.#setFar();
    if (random.chance(0.5)) this.#cancelFar();
    await wait(Math.max(0, end - performance.now()));
    const one = random.below(world.bots.length);
    const isOutage = time % 3 === 0;
    const places = isOutage ? [...world.bots.keys()] : [one];
    await Promise.all(places.map((place) => this.#kill(place, time)));
    if (isOutage) await wait(MAX_PAUSE_MS / 2 + random.below(MAX_PAUSE_MS / 2));
    await Promise.all(places.map((place) => this.#boot(place)));
  }

  async end(): Promise<void> {
    const { world, size } = this.#stage;
    const { ledger } = world;
    const timeoutMs = MAX_DELAY_MS[size] + ANSWERS_TIMEOUT_MS;
    if (!(await ledger.waitSaid(ledger.due, timeoutMs))) {
      world.violations.push(`lost: ${ledger.due - ledger.said} replies were never sent`);
    }
    this.#stoppedAt = Date.now();
  }

  /** A timer's reply comes long after the replies to later messages. */
  rules() {
    return { order: "any" } as const;
  }

  async judge({ written }: Observed): Promise<Judgement> {
    const { store } = this.#stage.world;
    const { states, timers, ownEvents } = await store.layer();
    const stoppedAt = this.#stoppedAt;
    const lives = [...this.#lives.values()].map(
      ({ to = stoppedAt, ...life }): Life => ({ ...life, to }),
    );
    const [ticks = [], fired = []] = partition(ownEvents, ({ type }) => type.startsWith("cron:"));
    const [answers = [], dues = []] = partition(this.#arrivals, ({ text }) => isOwn(text));
    const moments = checkMoments(ticks, answers, lives, stoppedAt);
    const violations = [
      ...checkTimers(this.#reminders, fired, dues),
      ...checkWaiting(this.#far.keys(), timers),
      ...checkFired(this.#reminders.length, states),
      ...moments.violations,
    ];
    const figures = {
      messages: written.length,
      timers: this.#reminders.length,
      ...latenessOf("timer", fired, dues),
      "timers an hour away": this.#far.size + this.#cancelled,
      "of them cancelled": this.#cancelled,
      "seconds with an instance up": moments.owed,
      "seconds without": moments.missed,
      ...latenessOf("cron", ticks, answers),
    };
    return { figures, violations };
  }

  /** Writes a message that sets a timer due within the run. One in ten sets it twice under the same key. */
  #remind(): void {
    const { world, random, size } = this.#stage;
    const delayMs = 100 + random.below(MAX_DELAY_MS[size] - 100);
    const behaviour: Behaviour = random.chance(0.1) ? "rekey" : "remind";
    const writtenAt = Date.now();
    const from = `person${random.below(PEOPLE)}`;
    const { text } = world.ledger.write({ from, behaviour, note: String(delayMs) });
    this.#reminders.push({ number: numberOf(text), delayMs, writtenAt });
  }

  #setFar(): void {
    const { world, random } = this.#stage;
    const from = `person${random.below(PEOPLE)}`;
    const { text } = world.ledger.write({ from, behaviour: "far" });
    this.#far.set(numberOf(text), from);
  }

  #cancelFar(): void {
    const { world, random } = this.#stage;
    const [number, from] = random.pick([...this.#far]);
    world.ledger.write({ from, behaviour: "cancel", note: String(number) });
    this.#far.delete(number);
    this.#cancelled += 1;
  }

  async #kill(place: number, time: number): Promise<void> {
    const { world } = this.#stage;
    const bot = world.bots[place];
    if (bot === undefined) return;
    const life = this.#lives.get(bot);
    if (life !== undefined) life.to = Date.now();
    await world.kill(bot, `after kill ${time}`);
  }

  async #boot(place: number): Promise<void> {
    const startedAt = Date.now();
    const bot = await this.#stage.world.boot({}, place);
    this.#lives.set(bot, { startedAt, from: Date.now() });
  }

  #note(entry: TimelineEntry): void {
    if (entry.kind !== "api" || entry.created === undefined) return;
    const { text = "", at, ms } = entry;
    this.#arrivals.push({ text, at: Date.parse(at) - ms });
  }
}

function partition<T>(all: readonly T[], fits: (item: T) => boolean): readonly T[][] {
  return [all.filter(fits), all.filter((item) => !fits(item))];
}
