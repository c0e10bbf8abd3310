import { setTimeout as wait } from "node:timers/promises";
import type { TimelineEntry } from "../../../src/platform/index.ts";
import type { BotProcess } from "../driver/bot-process.ts";
import { SmallDisk } from "../driver/disk.ts";
import { median, scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { times: number }>> = {
  small: { times: 5 },
  large: { times: 100 },
};

/** Long texts, so that a full file has no page left for them. */
const NOTE = "x".repeat(150);

/** What may happen to a delivery on a full disk, and how long until it does, in milliseconds. */
const PATIENCE_MS = 15_000;

/**
 * The disk fills up under load and is freed again, while one bot runs all the time. Every second time
 * it is a real disk without a byte left, where a small one can be mounted; otherwise the file has
 * reached its largest permitted number of pages.
 */
export const diskFull: Scenario = {
  name: "disk full, then freed, under load",
  async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
    const { times } = scaled(sizes[size], scale);
    const random = new Random(seed);
    const disk = SmallDisk.mount(64);
    const world = await World.start(disk === undefined ? {} : { folder: disk.folder });
    const run = new Run(world, random, disk);
    try {
      const bot = await world.boot();
      for (let time = 1; time <= times && !world.broken; time++) {
        await run.once(bot, time);
        if (time % 10 === 0) progress(`${time} of ${times} times full`);
      }
      const { stored } = await world.finish(bot);
      run.checkAttempts(stored);
      const figures = {
        "times full": times,
        "of them a real disk": disk === undefined ? "0 (may not mount)" : Math.ceil(times / 2),
        events: stored.length,
        answers: world.ledger.said,
        "deliveries refused with 503": run.refused,
        "recovery, median (ms)": Math.round(median(run.recoveryMs)),
        "recovery, worst (ms)": Math.round(Math.max(...run.recoveryMs)),
      };
      return { figures, violations: world.violations };
    } finally {
      await world.close();
      disk?.unmount();
    }
  },
};

class Run {
  /** From the moment the disk had room again until a delivery was stored. */
  readonly recoveryMs: number[] = [];
  refused = 0;
  readonly #world: World;
  readonly #random: Random;
  readonly #disk: SmallDisk | undefined;

  constructor(world: World, random: Random, disk: SmallDisk | undefined) {
    this.#world = world;
    this.#random = random;
    this.#disk = disk;
    world.platform.onTimeline((entry) => {
      if (isDelivery(entry) && entry.status === 503) this.refused += 1;
      else if (isDelivery(entry) && entry.error !== undefined && entry.status !== null) {
        world.violations.push(`a delivery was answered with ${entry.status}`);
      }
    });
  }

  async once(bot: BotProcess, time: number): Promise<void> {
    const disk = time % 2 === 1 ? this.#disk : undefined;
    this.#write(20);
    await wait(this.#random.below(50));
    if (disk === undefined) bot.order({ disk: "full" });
    else disk.fill();
    await this.#untilRefused(time);
    // Handlers run into it as well, some for longer than others.
    await wait(this.#random.below(500));
    this.#world.checkAcknowledged(`while the disk was full for the ${time}. time`);
    const freed = performance.now();
    const stored = this.#nextDelivery((entry) => entry.error === undefined);
    if (disk === undefined) bot.order({ disk: "free" });
    else disk.free();
    this.#write(20);
    if (await stored) this.recoveryMs.push(performance.now() - freed);
    else this.#world.violations.push(`nothing was stored after the disk was freed, time ${time}`);
  }

  /** What failed on a full disk was not the event's fault. */
  checkAttempts(stored: readonly { readonly id: string; readonly attempts: number }[]): void {
    const burned = stored.filter(({ attempts }) => attempts > 1);
    if (burned.length === 0) return;
    const worst = Math.max(...burned.map(({ attempts }) => attempts));
    this.#world.violations.push(
      `a full disk burned attempts of ${burned.length} events, up to ${worst} of one`,
    );
  }

  #write(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#world.ledger.write({ from: `person${this.#random.below(20)}`, note: NOTE });
    }
  }

  async #untilRefused(time: number): Promise<void> {
    const refused = this.#nextDelivery((entry) => entry.status === 503);
    let over = false;
    const writing = async () => {
      while (!over) {
        this.#write(5);
        await wait(20);
      }
    };
    const written = writing();
    if (!(await refused)) this.#world.violations.push(`the disk was not full, time ${time}`);
    over = true;
    await written;
  }

  /** False when none comes in time. */
  #nextDelivery(fits: (entry: DeliveryEntry) => boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (found: boolean) => {
        clearTimeout(timer);
        ignore();
        resolve(found);
      };
      const timer = setTimeout(() => end(false), PATIENCE_MS);
      const ignore = this.#world.platform.onTimeline((entry) => {
        if (isDelivery(entry) && fits(entry)) end(true);
      });
    });
  }
}

type DeliveryEntry = Extract<TimelineEntry, { kind: "delivery" }>;

function isDelivery(entry: TimelineEntry): entry is DeliveryEntry {
  return entry.kind === "delivery";
}
