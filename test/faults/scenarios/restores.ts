import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { BotProcess } from "../driver/bot-process.ts";
import { lost } from "../driver/checker.ts";
import { COMPILE_CACHE } from "../driver/import-time.ts";
import { scaled } from "../driver/numbers.ts";
import { World } from "../driver/world.ts";
import { Random } from "../random.ts";
import type { Outcome, Scenario, ScenarioRun, Size } from "../scenario.ts";

const sizes: Readonly<Record<Size, { restores: number }>> = {
  small: { restores: 2 },
  large: { restores: 60 },
};

/** So few that several messages of a conversation are on either side of a backup. */
const PEOPLE = 6;

/** A message is written every so many milliseconds, on average. */
const APART_MS = 40;

const CLI = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

/** How a backup gets into its place. */
type Way = "by the command" | "by hand";

/** Backups under load, then kill -9, the folder deleted, and the backup restored into another one. */
export const restores: Scenario = restoresWith(
  "backup under load, kill -9 some time later, restored into another folder",
  "by the command",
);

export function restoresWith(name: string, way: Way): Scenario {
  return {
    name,
    async run({ size, seed, scale, progress }: ScenarioRun): Promise<Outcome> {
      const plan = scaled(sizes[size], scale);
      const random = new Random(seed);
      const world = await World.start();
      const backups = mkdtempSync(join(tmpdir(), "service-bot-backups-"));
      let forgotten = 0;
      try {
        for (let n = 1; n <= plan.restores && !world.broken; n++) {
          const backup = join(backups, `${n}.db`);
          forgotten += await loseAndRestore(world, random, backup, way);
          progress(`${n} of ${plan.restores} restores, ${world.ledger.said} said`);
        }
        const { stored } = await world.finish(await world.boot());
        return {
          figures: {
            restores: plan.restores,
            events: stored.length,
            answers: world.ledger.said,
            "said after the backup and before the loss": forgotten,
          },
          violations: world.violations,
        };
      } finally {
        await world.close();
        for (const folder of [world.folder, backups])
          rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** One life of a bot, and of its disk. Returns how much was said of which the backup knows nothing. */
async function loseAndRestore(
  world: World,
  random: Random,
  backup: string,
  way: Way,
): Promise<number> {
  const bot = await world.boot();
  const load = new Load(world, random);
  await wait(random.below(600));
  const before = [...world.ledger.acknowledged];
  await serviceBot(world, ["inbox", "backup", backup, "--json"]);
  const said = world.ledger.said;
  await wait(random.below(600));
  await killSoon(world, random, bot);
  await load.stop();
  world.ledger.takeAcknowledged();
  world.moveTo(mkdtempSync(join(tmpdir(), "service-bot-faults-")));
  if (way === "by hand") copyFileSync(backup, join(world.folder, "bot.db"));
  else await serviceBot(world, ["inbox", "restore", backup, "--json"]);
  world.violations.push(...lost(world.inbox.missing(before), `after the restore of ${backup}`));
  world.inbox.close();
  return world.ledger.said - said;
}

/** People who write all the time, also while there is no bot. */
class Load {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  constructor(world: World, random: Random) {
    this.#done = this.#run(world, random);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(world: World, random: Random): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const behaviour = random.chance(0.3) ? "alike" : random.chance(0.2) ? "twins" : "answer";
      world.ledger.write({ from: `person${random.below(PEOPLE)}`, behaviour });
      await wait(random.below(2 * APART_MS));
    }
  }
}

/** In the middle of an answer, most often. */
async function killSoon(world: World, random: Random, bot: BotProcess): Promise<void> {
  const ignore = world.ledger.onSaid(random.below(20), () => bot.signal("SIGKILL"));
  await Promise.race([bot.exited, wait(1_000)]);
  ignore();
  await bot.end("SIGKILL");
}

async function serviceBot(world: World, args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [CLI, ...args], {
    cwd: world.folder,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      DATABASE_URL: `file:${join(world.folder, "bot.db")}`,
    },
  });
}
