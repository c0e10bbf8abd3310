import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Behaviour } from "../bot/behaviours.ts";
import { reportLost } from "../driver/checker.ts";
import { type Attack, onOneBot, type Stage } from "../driver/fault.ts";
import { Load } from "../driver/load.ts";
import type { World } from "../driver/world.ts";
import type { Scenario } from "../scenario.ts";

/** Few users, so that each conversation has messages before and after a backup. */
const PEOPLE = 6;

const MAX_PAUSE_MS = 120;

/** Time limit for a ready bot to read the event log, in ms. Reading takes much less unless the machine is busy. */
const LOG_TIMEOUT_MS = 20_000;

const mixture: readonly Behaviour[] = [
  "alike",
  "alike",
  "alike",
  "twins",
  "answer",
  "answer",
  "answer",
];

/** Takes backups under load, then kills the bot, deletes the folder and restores the backup into another folder. */
export const restores: Scenario = restoresWith(
  "backup under load, kill -9 some time later, restored into another folder",
  "by the command",
);

/** @param way `by hand` copies the file, so that the inbox is not aware of the restore */
export function restoresWith(name: string, way: "by the command" | "by hand"): Scenario {
  return onOneBot({
    ...{ name, counted: "restores", times: { small: 2, large: 60 } },
    begin: (stage) => loseDisk(stage, way),
  });
}

function loseDisk({ world, random }: Stage, way: "by the command" | "by hand"): Attack {
  const { ledger, store, scratch } = world;
  let forgotten = 0;
  return {
    /** Runs one process of the bot until its disk is lost. */
    async once(time) {
      const backup = join(scratch, `backup-${time}.db`);
      const bot = await world.boot();
      const pauseMs = () => random.below(MAX_PAUSE_MS);
      const load = new Load({ ledger, random, pauseMs, people: PEOPLE, behaviours: mixture });
      await world.waitForMore(random.below(10), 3_000);
      const before = [...ledger.acknowledged];
      await waitForLog(world, before);
      await world.serviceBot("inbox", "backup", backup, "--json");
      const said = ledger.said;
      await wait(random.below(600));
      const ended = () => Promise.race([bot.exited, wait(1_000)]);
      await world.killInReply(bot, `after kill ${time}`, random.below(10), ended);
      await load.stop();
      // The backup need not have what the bot acknowledged last.
      ledger.takeAcknowledged();
      await store.moveTo(join(scratch, `restored-${time}`));
      if (way === "by hand") copyFileSync(backup, store.file);
      else await world.serviceBot("inbox", "restore", backup, "--json");
      const missing = await store.missing(before);
      world.violations.push(...reportLost(missing, `after the restore of ${backup}`));
      forgotten += ledger.said - said;
    },
    judge: () => ({ figures: { "said after the backup and before the loss": forgotten } }),
  };
}

async function waitForLog({ store }: World, acknowledged: readonly string[]): Promise<void> {
  const end = performance.now() + LOG_TIMEOUT_MS;
  while (performance.now() < end && (await store.missing(acknowledged)).length > 0) await wait(50);
}
