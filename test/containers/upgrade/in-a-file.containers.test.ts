import { afterAll, beforeAll, expect, test } from "vitest";
import { SqliteStore } from "../../faults/driver/store.ts";
import { tabulate } from "../../faults/report.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { docker, withEngine } from "../support/given.ts";
import { Deployment } from "./deployment.ts";

/** In ms. Builds three images, and starts four bots. */
const TIMEOUT_MS = 600_000;

/** Of the folder and of all containers: several runs share an engine. */
const NAME = `upgrade-file-${process.pid}`;

const UP = "docker compose up --build --detach";

withEngine("a bot with its inbox in a volume, replaced by compose under load", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.create(NAME, []);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => deployment?.remove());

  /** The file of the inbox, as this machine sees the volume. */
  async function openStore(): Promise<SqliteStore> {
    const volume = `${NAME}_data`;
    const template = "{{.Mountpoint}}";
    return new SqliteStore(await docker.run("volume", "inspect", "--format", template, volume));
  }

  /** In ms. The longest time without a delivery that was taken. */
  function longestGap(began: number): number {
    const taken = deployment.deliveries.filter(({ at, refusal }) => at >= began && !refusal);
    const gaps = taken.map(({ at }, n) => at - (taken[n - 1]?.at ?? at));
    return Math.max(...gaps);
  }

  test(
    "is away for seconds, loses nothing and says nothing twice; the version before is refused",
    async () => {
      const { project, ledger, before, after } = deployment;
      project.explainFailure();
      const started = performance.now();
      await project.type(UP);
      const load = deployment.load();
      await ledger.waitSaid(200, 60_000);

      deployment.use(after);
      const updated = performance.now();
      await project.type(UP);
      await ledger.waitSaid(ledger.said + 200, 60_000);
      const gapMs = longestGap(updated);
      const refused = deployment
        .deliveriesSince(updated)
        .filter(({ refusal }) => refusal !== undefined).length;

      deployment.use(before);
      await project.type(UP).catch(() => undefined);
      const bot = await project.container("bot");
      expect(await docker.run("wait", bot)).toBe("1");
      expect((await docker.logs(bot)).join("\n")).toContain("written by a newer version");

      deployment.use(after);
      await project.type(UP);
      await ledger.waitSaid(ledger.said + 200, 60_000);
      await load.stop();

      const violations = await deployment.violations(await openStore());
      const seconds = (performance.now() - started) / 1000;
      const figures = {
        events: ledger.written.length,
        "without a bot (s)": gapMs / 1000,
        "refused by the update": refused,
      };
      console.info(
        tabulate([{ name: "update in a file", outcome: { figures, violations }, seconds }]),
      );
      expect(violations).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
