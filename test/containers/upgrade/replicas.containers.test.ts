import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { every, systemClock } from "../../faces/core.ts";
import { Poster } from "../../faults/driver/poster.ts";
import type { PostgresStore } from "../../faults/driver/postgres-store.ts";
import { chooseSeed, Random } from "../../faults/random.ts";
import { tabulate } from "../../faults/report.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { docker, withEngine } from "../support/given.ts";
import type { Delivery, Deployment } from "./deployment.ts";
import {
  botContainers,
  openStore,
  REPLICAS,
  startReplicas,
  UPDATE,
  untilReady,
} from "./replicas.ts";
import { packageIn, packageOf } from "./versions.ts";

/** Number of upgrades, and number of kills. UPGRADES=20 is the large size. */
const TIMES = Number(process.env["UPGRADES"] ?? "3");

const EVENTS_PER_UPGRADE = 500;

const UP_TIMEOUT_MS = 600_000;
const UPGRADE_TIMEOUT_MS = 180_000;
const ANSWERS_TIMEOUT_MS = 60_000;

/** A delivery without events, and the interval between two such deliveries in ms. */
const EMPTY = '{"events":[]}';
const PAUSE_MS = 20;

const UP = "docker compose up --build --detach";

withEngine("three bots behind Caddy", () => {
  let deployment: Deployment;
  let store: PostgresStore;

  beforeAll(async () => {
    deployment = await startReplicas(`upgrade-replicas-${process.pid}`);
    store = await openStore(deployment);
  }, SCAFFOLD_TIMEOUT_MS + UP_TIMEOUT_MS);

  afterAll(async () => {
    await store?.close();
    await deployment?.remove();
  });

  /** Every second call downgrades. Resolves to the deliveries during the replacement. */
  async function upgrade(): Promise<Delivery[]> {
    const old = await botContainers(deployment);
    const oldPackages = await Promise.all(old.map(packageIn));
    const { before, after } = deployment;
    const version = oldPackages.includes(packageOf(before)) ? after : before;
    deployment.use(version);
    const began = performance.now();
    await deployment.project.type(UPDATE);
    const deliveries = deployment.deliveriesSince(began);
    const bots = await botContainers(deployment);
    expect(new Set([...old, ...bots]).size).toBe(2 * REPLICAS.length);
    expect(oldPackages).not.toContain(packageOf(version));
    expect(await Promise.all(bots.map(packageIn))).toEqual(bots.map(() => packageOf(version)));
    return deliveries;
  }

  /** Returns the deliveries since the kill, once the bot is ready again. */
  async function kill(random: Random): Promise<Delivery[]> {
    const { ledger, project } = deployment;
    const container = await project.container(random.pick(REPLICAS));
    const answers = ledger.said + random.below(100);
    expect(await ledger.waitSaid(answers, ANSWERS_TIMEOUT_MS)).toBe(true);
    const began = performance.now();
    await docker.run("kill", "--signal", "KILL", container);
    expect(await ledger.waitSaid(ledger.said + 50, ANSWERS_TIMEOUT_MS)).toBe(true);
    await docker.run("start", container);
    await untilReady(deployment);
    return deployment.deliveriesSince(began);
  }

  test(
    `lose nothing, say nothing twice and refuse no delivery of ${TIMES} upgrades, with a kill after each`,
    async () => {
      const { project, ledger } = deployment;
      project.explainFailure();
      const random = new Random(chooseSeed());
      const started = performance.now();
      const load = deployment.load();
      let taken = 0;
      const duringUpgrades: Delivery[] = [];
      const duringKills: Delivery[] = [];
      for (let time = 1; time <= TIMES; time++) {
        const deliveries = await upgrade();
        const refused = deliveries.filter(({ refusal }) => refusal !== undefined);
        expect(deliveries.length).toBeGreaterThan(refused.length);
        taken += deliveries.length - refused.length;
        duringUpgrades.push(...refused);
        const killed = await kill(random);
        duringKills.push(...killed.filter(({ refusal }) => refusal !== undefined));
      }
      while (ledger.written.length < TIMES * EVENTS_PER_UPGRADE) await ledger.waitAnswer(1_000);
      await load.stop();

      const violations = await deployment.violations(store);
      const figures = {
        events: ledger.written.length,
        answers: ledger.said,
        ...{ upgrades: TIMES, kills: TIMES },
        "deliveries taken during upgrades": taken,
        "deliveries refused during upgrades": duringUpgrades.length,
        "deliveries refused during kills": duringKills.length,
        lost: violations.filter((text) => text.startsWith("lost")).length,
        "said twice": violations.filter((text) => text.startsWith("duplicated")).length,
      };
      const seconds = (performance.now() - started) / 1000;
      const name = "three bots behind Caddy";
      console.info(tabulate([{ name, outcome: { figures, violations }, seconds }]));
      expect(duringUpgrades).toEqual([]);
      expect(violations).toEqual([]);
    },
    TIMES * (UPGRADE_TIMEOUT_MS + ANSWERS_TIMEOUT_MS),
  );

  async function restartWith(file: string, from: string, to: string): Promise<void> {
    const path = join(deployment.project.dir, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replaceAll(from, to));
    await deployment.project.type(UP);
    await untilReady(deployment);
  }

  /**
   * Upgrades idle bots, which stop immediately. Resolves to the number of deliveries accepted and refused meanwhile.
   */
  async function upgradeWhileIdle(): Promise<{ taken: number; refused: number }> {
    const { webhookUrl, platform } = deployment;
    const poster = new Poster(webhookUrl, platform.webhookSecret, 1);
    let [taken, refused] = [0, 0];
    const over = new AbortController();
    const deliver = async () => {
      if ((await poster.post(EMPTY)) === 200) taken += 1;
      else refused += 1;
    };
    const delivering = every(systemClock, PAUSE_MS, deliver, over.signal);
    await upgrade().finally(() => over.abort());
    await delivering;
    poster.close();
    return { taken, refused };
  }

  test(
    "refuse no delivery while idle, but refuse some without DRAIN_MS",
    async () => {
      const drained = await upgradeWhileIdle();
      expect(drained.taken).toBeGreaterThan(0);
      expect(drained.refused).toBe(0);
      await restartWith("compose.override.yaml", 'DRAIN_MS: "6000"', 'DRAIN_MS: "0"');
      const { refused } = await upgradeWhileIdle();
      console.info(`without DRAIN_MS ${refused} deliveries were refused`);
      expect(refused).toBeGreaterThan(0);
    },
    UP_TIMEOUT_MS,
  );

  test(
    "send a reply twice after a kill without steps",
    async () => {
      await restartWith(".env", "LOG_LEVEL=warn", "LOG_LEVEL=warn\nWITHOUT_STEPS=1");
      const load = deployment.load();
      await kill(new Random(chooseSeed()));
      await load.stop();
      const violations = await deployment.violations(store);
      expect(violations.filter((text) => text.startsWith("duplicated"))).not.toEqual([]);
    },
    UP_TIMEOUT_MS,
  );
});
