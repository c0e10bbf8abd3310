import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { defaults, variables } from "../../faces/bot.ts";
import type { Finding } from "../../faces/cli.ts";
import type { Attack, Stage } from "../../faults/driver/fault.ts";
import type { PostgresStore } from "../../faults/driver/postgres-store.ts";
import type { Store } from "../../faults/driver/store.ts";
import { type Result, recorded, tabulate } from "../../faults/report.ts";
import type { Scenario } from "../../faults/scenario.ts";
import { stopUnderLoad } from "../../faults/scenarios/stops.ts";
import { testSmall } from "../../faults/test-small.ts";
import { longestStopMs } from "../../operations/code.ts";
import { isOk } from "../../support/is-ok.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { PlatformProcess } from "../../support/world/platform-process.ts";
import { ComposeProject } from "../support/compose.ts";
import { BotContainer } from "../support/container.ts";
import { onPostgres, onVolume } from "../support/fault-world.ts";
import { makeFaultsImage } from "../support/faults-image.ts";
import { docker, hostAddress, withEngine } from "../support/given.ts";
import { PostgresContainer } from "../support/postgres-container.ts";
import { cloudRun, fly, type Hosting, railway, render } from "./configurations.ts";

const NAME = "platforms";

const STORES = ["sqlite", "postgres"] as const;
type StoreName = (typeof STORES)[number];

/** Returns the image of a bot that was scaffolded with the `--store` flag from a platform's page. */
const imageOf = (store: StoreName) => `service-bot-test/platforms-${store}`;

const DATA = "/bot/data";

/** Fly's default `kill_timeout`, in seconds. */
const SHORTEST_STOP_S = 5;

/** Time a process needs to start and exit on a busy machine, in ms. It counts towards the time to stop. */
const ROOM_MS = 1_000;

const hostings = await Promise.all([fly(), railway(), render(), cloudRun()]);

function flagsOf({ memory, stopSignal, stopSeconds }: Hosting): string[] {
  return [
    ...["--memory", `${memory}m`, "--memory-swap", `${memory}m`],
    ...["--stop-signal", stopSignal, "--stop-timeout", String(stopSeconds)],
  ];
}

describe.each(hostings)(
  "docs/deploy/hosting.md, $service",
  ({ stopSeconds, shutdownGraceMs, ...hosting }) => {
    test("gives the bot enough time to stop", () => {
      const ownMs = defaults.shutdownGraceMs;
      const longestMs = longestStopMs() - ownMs + (shutdownGraceMs ?? ownMs);
      expect(longestMs + ROOM_MS).toBeLessThanOrEqual(stopSeconds * 1_000);
    });

    test("sets only known variables", () => {
      expect(hosting.variables.filter((name) => !variables.includes(name))).toEqual([]);
    });
  },
);

/** The volume belongs to root, even if the image's folder has another owner. */
const ROOTS_VOLUME = ["--mount", `type=volume,source=${NAME},target=${DATA},volume-nocopy`];

withEngine("the image of a scaffolded bot, as platforms run it", () => {
  let folder: string;

  beforeAll(
    async () => {
      folder = mkdtempSync(join(tmpdir(), "platforms-"));
      for (const store of STORES) {
        const flags = ["--store", store];
        const { dir } = await ComposeProject.scaffold(docker, folder, `${NAME}-${store}`, flags);
        await docker.run("build", "--tag", imageOf(store), dir);
      }
    },
    2 * (SCAFFOLD_TIMEOUT_MS + 120_000),
  );

  afterAll(async () => {
    await docker.succeeds("volume", "rm", "--force", NAME);
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(
    flags: readonly string[],
    env: Readonly<Record<string, string>> = {},
    store: StoreName = "sqlite",
  ) {
    const host = await hostAddress();
    const platform = await PlatformProcess.start({ flags: ["--host", host] });
    const access = { SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: platform.apiKey };
    const bot = await BotContainer.run(docker, NAME, {
      image: imageOf(store),
      flags,
      env: { ...access, SERVICE_WEBHOOK_SECRET: platform.webhookSecret, ...env },
    });
    onTestFinished(() => bot.remove());
    return { platform, bot };
  }

  async function findings(): Promise<readonly Finding[]> {
    const doctor = ["exec", NAME, "node_modules/.bin/service-bot", "doctor", "--json"];
    const report: { findings: Finding[] } = JSON.parse(await docker.run(...doctor));
    return report.findings.filter(({ area }) => area === "database");
  }

  async function warnings(): Promise<readonly Finding[]> {
    return (await findings()).filter(({ level }) => level === "warn");
  }

  /**
   * Creates the database that the platform's page describes. Returns flags for `docker run`, variables, and part of the
   * database's URL.
   */
  async function memoryOf({ service, volume }: Hosting) {
    if (volume !== undefined) {
      return { store: "sqlite", flags: ["--volume", volume], env: {}, shown: "bot.db" } as const;
    }
    const database = await PostgresContainer.start(docker, `${NAME}-${service}`);
    onTestFinished(() => database.remove());
    const env = { DATABASE_URL: await database.ready() };
    return { store: "postgres", flags: [], env, shown: "postgres://" } as const;
  }

  test.each(hostings)(
    "is ready, replies and exits as docs/deploy/hosting.md says of $service, and passes the doctor",
    async (hosting) => {
      const { port, givesPort, healthPath, stopSeconds } = hosting;
      const { store, flags, shown, ...memory } = await memoryOf(hosting);
      const env = { ...memory.env, ...(givesPort ? { PORT: String(port) } : {}) };
      const { platform, bot } = await run([...flagsOf(hosting), ...flags], env, store);
      await bot.ready();
      expect(await isOk(`${bot.url}${healthPath}`)).toBe(true);
      await platform.deliverTo(bot.url);
      const written = await platform.write("ada", `at ${port}`);
      expect(await platform.delivery(written)).toMatchObject({ status: 200 });
      await platform.says(`Hi Ada! You wrote: at ${port}`);
      const found = { level: "ok", what: expect.stringContaining(shown) };
      expect(await findings()).toMatchObject([found]);
      const { ExitCode, tookMs } = await bot.stop();
      expect(ExitCode).toBe(0);
      expect(tookMs).toBeLessThan(stopSeconds * 1_000);
    },
  );

  test.each([
    { what: "in the container", flags: ["--read-only=false"], word: "container" },
    { what: "in memory", flags: ["--tmpfs", `${DATA}:uid=1000`], word: "tmpfs" },
  ])("its doctor warns about a file $what", async ({ flags, word }) => {
    const { bot } = await run(flags);
    await bot.ready();
    expect(await warnings()).toMatchObject([{ what: expect.stringContaining(word) }]);
  });

  test("a volume owned by root stops the bot with the reason, and works for a bot that runs as root", async () => {
    await run(ROOTS_VOLUME);
    expect(await docker.run("wait", NAME)).toBe("1");
    const output = (await docker.logs(NAME)).join("\n");
    expect(output).toContain(`${DATA}/bot.db-lock`);
    expect(output).toContain(`to ${DATA} (owner 0`);
    const { bot } = await run([...ROOTS_VOLUME, "--user", "0"]);
    await bot.ready();
    expect(await warnings()).toEqual([]);
  });
});

function stopsOn(hosting: Hosting, image: () => string): Scenario {
  const { port, shutdownGraceMs = defaults.shutdownGraceMs, volume } = hosting;
  const label = `platforms-${hosting.service}`;
  const settings = { shutdownGraceMs };
  const options = { image, label, port, settings, flags: () => flagsOf(hosting) };
  const fault = {
    counted: "stops",
    times: { small: 4, large: 40 },
    // No time limit is needed, because the engine kills a bot that is too slow, and its exit code is then not 0.
    begin: (stage: Stage<Store>) => stopUnderLoad(stage, Number.POSITIVE_INFINITY),
  };
  /** Stops every bot in the world, so that the scenario starts its own. */
  async function alone(stage: Stage<PostgresStore>): Promise<Attack> {
    for (const bot of stage.world.bots) await stage.world.stop(bot);
    return fault.begin(stage);
  }
  const scenario =
    volume === undefined
      ? onPostgres({ ...options, instances: 1 }, () => ({ ...fault, begin: alone }))
      : onVolume(options, () => fault);
  return { name: label, ...scenario };
}

withEngine("a bot stopped under load, as platforms stop it", () => {
  let image: string;
  const results: Result[] = [];

  beforeAll(async () => {
    image = await makeFaultsImage(docker);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => console.info(tabulate(results)));

  const [onFly] = hostings;
  const hurried = { ...onFly, service: "fly-in-5-s", stopSeconds: SHORTEST_STOP_S };
  for (const hosting of [...hostings, hurried]) {
    const { stopSignal, stopSeconds, service } = hosting;
    const scenario = stopsOn(hosting, () => image);
    testSmall(
      recorded(scenario, results),
      `${service}: ends with 0 in ${stopSeconds} s after ${stopSignal}, and loses nothing`,
    );
  }
});
