import { setTimeout as wait } from "node:timers/promises";
import { SmallDisk } from "../driver/disk.ts";
import { type Attack, attemptsLost, onOneBot, type Stage, writers } from "../driver/fault.ts";
import { Tally } from "../driver/timeline.ts";
import { spread } from "../report.ts";
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
      const scenario = onOneBot({
        ...{ name: this.name, counted: "times full", times: { small: 4, large: 100 } },
        world: disk === undefined ? {} : { folder: disk.folder },
        isBooted: true,
        begin: (stage) => fillDisk(stage, (time) => (time % 2 === 1 ? disk : undefined)),
      });
      return await scenario.run(options);
    } finally {
      disk?.unmount();
    }
  },
};

/** @param diskAt the disk to fill this time; otherwise, the database file cannot grow */
export function fillDisk(stage: Stage, diskAt: (time: number) => SmallDisk | undefined): Attack {
  const { world, random } = stage;
  const write = writers(stage, 20);
  /** Time until a delivery was stored again, per round, in ms. */
  const recoveryMs: number[] = [];
  let real = 0;
  const refused = new Tally(world.platform, "delivery", ({ status }) => status === 503);
  const stored = new Tally(world.platform, "delivery", ({ error }) => error === undefined);
  world.platform.onTimeline((entry) => {
    if (entry.kind !== "delivery" || entry.error === undefined) return;
    const { status } = entry;
    if (status !== null && status !== 503) world.violations.push(`a delivery got ${status}`);
  });

  async function untilRefused(time: number): Promise<void> {
    const full = refused.reaches(refused.count + 1, DELIVERY_TIMEOUT_MS);
    const isOver = full.then(() => true);
    do {
      write(5, NOTE);
    } while (!(await Promise.race([wait(20, false), isOver])));
    if (!(await full)) world.violations.push(`the disk was not full, time ${time}`);
  }

  return {
    async once(time) {
      const disk = diskAt(time);
      if (disk !== undefined) real += 1;
      const [bot] = world.bots;
      write(20, NOTE);
      await wait(random.below(50));
      if (disk === undefined) bot?.order({ disk: "full" });
      else disk.fill();
      await untilRefused(time);
      // Some handlers hit the full disk later than the deliveries do.
      await wait(random.below(500));
      await world.checkAcknowledged(`while the disk was full, time ${time}`);
      const freed = performance.now();
      const room = stored.reaches(stored.count + 1, DELIVERY_TIMEOUT_MS);
      if (disk === undefined) bot?.order({ disk: "free" });
      else disk.free();
      write(20, NOTE);
      if (await room) recoveryMs.push(performance.now() - freed);
      else world.violations.push(`no delivery was stored after the disk was freed, time ${time}`);
    },
    judge: (observed) => ({
      figures: {
        "of them a real disk": real === 0 ? "0 (may not mount)" : real,
        "deliveries refused with 503": refused.count,
        ...spread("recovery", recoveryMs),
      },
      violations: attemptsLost(observed, "a full disk"),
    }),
  };
}
