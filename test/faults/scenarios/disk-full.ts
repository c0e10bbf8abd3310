import { setTimeout as wait } from "node:timers/promises";
import type { TimelineEntry } from "../../faces/platform.ts";
import type { Observed } from "../driver/checker.ts";
import { SmallDisk } from "../driver/disk.ts";
import { type Attack, type Judgement, onOneBot, type Stage } from "../driver/fault.ts";
import { median } from "../report.ts";
import type { Scenario } from "../scenario.ts";

/** Long texts, so that a full file has no free page left for them. */
const NOTE = "x".repeat(150);

const DELIVERY_TIMEOUT_MS = 15_000;

/**
 * Fills the disk and frees it again, under load, while one bot keeps running. Every second round fills a small file
 * system to the last byte, if one can be mounted. The other rounds stop the database file from growing.
 */
export const diskFull: Scenario = {
  name: "disk full, then freed, under load",
  async run(options) {
    const disk = SmallDisk.mount(64);
    try {
      const world = disk === undefined ? {} : { folder: disk.folder };
      const begin = async (stage: Stage) => {
        await stage.world.boot();
        return new FullDisk(stage, disk, (time) => time % 2 === 1);
      };
      const times = { small: 4, large: 100 };
      return await onOneBot({ name: this.name, counted: "times full", times, world, begin }).run(
        options,
      );
    } finally {
      disk?.unmount();
    }
  },
};

export class FullDisk implements Attack {
  readonly #stage: Stage;
  readonly #disk: SmallDisk | undefined;
  readonly #isReal: (time: number) => boolean;
  #real = 0;
  /** Time until a delivery was stored again, per round, in ms. */
  readonly #recoveryMs: number[] = [];
  #refused = 0;

  /** @param isReal returns true in rounds that fill the real disk; in the others, the database file cannot grow */
  constructor(stage: Stage, disk: SmallDisk | undefined, isReal: (time: number) => boolean) {
    this.#stage = stage;
    this.#disk = disk;
    this.#isReal = isReal;
    stage.world.platform.onTimeline((entry) => {
      if (entry.kind !== "delivery" || entry.error === undefined || entry.status === null) return;
      if (entry.status === 503) this.#refused += 1;
      else stage.world.violations.push(`a delivery got ${entry.status}`);
    });
  }

  async once(time: number): Promise<void> {
    const { world, random } = this.#stage;
    const disk = this.#isReal(time) ? this.#disk : undefined;
    if (disk !== undefined) this.#real += 1;
    const [bot] = world.bots;
    this.#write(20);
    await wait(random.below(50));
    if (disk === undefined) bot?.order({ disk: "full" });
    else disk.fill();
    await this.#waitRefused(time);
    // Some handlers hit the full disk later than the deliveries do.
    await wait(random.below(500));
    await world.checkAcknowledged(`while the disk was full, time ${time}`);
    const freed = performance.now();
    const stored = this.#nextDelivery((entry) => entry.error === undefined);
    if (disk === undefined) bot?.order({ disk: "free" });
    else disk.free();
    this.#write(20);
    if (await stored) this.#recoveryMs.push(performance.now() - freed);
    else world.violations.push(`no delivery was stored after the disk was freed, time ${time}`);
  }

  /** A full disk must not use up an event's attempts. */
  judge({ stored }: Observed): Judgement {
    const violations = stored
      .filter(({ attempts }) => attempts > 1)
      .map(({ id, attempts }) => `a full disk used up attempts of ${id}: ${attempts}`);
    const figures = {
      "of them a real disk": this.#disk === undefined ? "0 (may not mount)" : this.#real,
      "deliveries refused with 503": this.#refused,
      "recovery, median (ms)": Math.round(median(this.#recoveryMs)),
      "recovery, worst (ms)": Math.round(Math.max(...this.#recoveryMs)),
    };
    return { figures, violations };
  }

  #write(count: number): void {
    const { world, random } = this.#stage;
    for (let i = 0; i < count; i++) {
      world.ledger.write({ from: `person${random.below(20)}`, note: NOTE });
    }
  }

  async #waitRefused(time: number): Promise<void> {
    let over = false;
    const refused = this.#nextDelivery(({ status }) => status === 503).finally(() => {
      over = true;
    });
    while (!over) {
      this.#write(5);
      await Promise.race([wait(20), refused]);
    }
    if (!(await refused)) this.#stage.world.violations.push(`the disk was not full, time ${time}`);
  }

  async #nextDelivery(fits: (entry: DeliveryEntry) => boolean): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), DELIVERY_TIMEOUT_MS);
    const ignore = this.#stage.world.platform.onTimeline((entry) => {
      if (entry.kind === "delivery" && fits(entry)) resolve(true);
    });
    return await promise.finally(() => {
      clearTimeout(timer);
      ignore();
    });
  }
}

type DeliveryEntry = Extract<TimelineEntry, { kind: "delivery" }>;
