import { afterAll, beforeAll, expect, test } from "vitest";
import { documentedBlock } from "../../docs/markdown.ts";
import { SqliteStore } from "../../faults/driver/store.ts";
import { tabulate } from "../../faults/report.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { docker, withEngine } from "../support/given.ts";
import { type Delivery, Deployment } from "./deployment.ts";
import { packageIn, packageOf, type Version } from "./versions.ts";

/** Test timeout, in ms. Covers building images, starting five bots, and reading the event log again. */
const TIMEOUT_MS = 900_000;

/**
 * Longest time without a bot, in ms. A stop takes up to 20 s on a busy machine (`stop_grace_period`), and a start takes
 * the rest.
 */
const MAX_GAP_MS = 30_000;

/** In ms. A restored bot reads the log and searches for its earlier replies before it sends more. */
const ANSWERS_TIMEOUT_MS = 180_000;

/** Name of the folder, and prefix of all container names. Unique, because several runs share an engine. */
const NAME = `upgrade-file-${process.pid}`;

const UP = "docker compose up --build --detach";

const RUN = "docker compose run --rm --no-deps -T bot";

/** A program that prints, as JSON, why the bot cannot start. */
const WHY_NOT = `
import { Bot } from "service-bot";
const ignore = () => ({});
const why = await new Bot().start({ listen: false }).then(ignore, ({ code, message }) => ({ code, message }));
console.log(JSON.stringify(why));
process.exit();
`;

const BACKUP = documentedBlock("docs/deploy/docker.md", "backup");
const COPY = documentedBlock("docs/deploy/docker.md", "copy");
const PREVIOUS = documentedBlock("docs/deploy/docker.md", "previous");
const NEWER = documentedBlock("docs/deploy/docker.md", "newer");
const BACK = documentedBlock("docs/deploy/docker.md", "back");

withEngine("a bot with its inbox in a volume, replaced by Compose under load", () => {
  let deployment: Deployment;

  beforeAll(async () => {
    deployment = await Deployment.create(NAME, []);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => deployment?.remove());

  async function openStore(): Promise<SqliteStore> {
    const volume = `${NAME}_data`;
    const template = "{{.Mountpoint}}";
    return new SqliteStore(await docker.run("volume", "inspect", "--format", template, volume));
  }

  async function commit(version: Version): Promise<void> {
    deployment.use(version);
    const author = "-c user.name=ada -c user.email=ada@example.org";
    await deployment.project.type(`git init -q && git add -A && git ${author} commit -qm version`);
  }

  async function replace(lines: string): Promise<string> {
    const old = await deployment.project.container("bot");
    // Ignore the error, because Compose fails if the new bot does.
    await deployment.project.type(lines).catch(() => undefined);
    const bot = await deployment.project.container("bot");
    expect(bot).not.toBe(old);
    return bot;
  }

  async function untilMoreSaid(): Promise<void> {
    const { ledger } = deployment;
    expect(await ledger.waitSaid(ledger.said + 200, ANSWERS_TIMEOUT_MS)).toBe(true);
  }

  function longestGap(began: number): number {
    const taken = deployment.deliveriesSince(began).filter(isTaken);
    const times = [began, ...taken.map(({ at }) => at), performance.now()];
    return Math.max(...times.slice(1).map((at, n) => at - (times[n] ?? at)));
  }

  /** Lists the events in these deliveries that were not delivered again, or have no reply. */
  function unanswered(deliveries: readonly Delivery[]): string[] {
    return deliveries.flatMap(({ at, eventIds }) => {
      const later = deployment.deliveriesSince(at).filter(isTaken);
      const brought = new Set(later.flatMap((each) => each.eventIds));
      return eventIds.filter((id) => !brought.has(id) || !deployment.ledger.hasAnswer(id));
    });
  }

  test(
    "is down for seconds, loses no event and sends no reply twice; the previous version only starts on a restored backup",
    async () => {
      const { project, ledger, before, after } = deployment;
      project.explainFailure();
      const started = performance.now();
      await commit(before);
      await project.type(UP);
      const load = deployment.load();
      await untilMoreSaid();
      await project.type(BACKUP);

      const updated = performance.now();
      await commit(after);
      expect(await packageIn(await replace(UP))).toBe(packageOf(after));
      await untilMoreSaid();
      const gapMs = longestGap(updated);
      expect(gapMs).toBeLessThan(MAX_GAP_MS);
      const refused = deployment.deliveriesSince(updated).filter((each) => !isTaken(each));
      // Caddy responds with one of these while no bot is running.
      for (const { status } of refused) expect([502, 503]).toContain(status);

      expect(await docker.run("wait", await replace(PREVIOUS))).toBe("1");
      await project.type("docker compose stop bot");
      const why = JSON.parse(await project.type(`${RUN} node --input-type=module -e '${WHY_NOT}'`));
      expect(why).toEqual({
        code: "INBOX_TOO_NEW",
        message: expect.stringMatching(/Update service-bot/),
      });

      // Follow the remedy that the error message names.
      expect(await packageIn(await replace(NEWER))).toBe(packageOf(after));
      await untilMoreSaid();

      await project.type("docker compose exec -T bot rm data/2026-03-01.db");
      await project.type(COPY);
      expect(await packageIn(await replace(BACK))).toBe(packageOf(before));
      await untilMoreSaid();
      await load.stop();

      const violations = await deployment.violations(await openStore());
      const seconds = (performance.now() - started) / 1000;
      const figures = {
        events: ledger.written.length,
        "without a bot (s)": gapMs / 1000,
        "refused by the update": refused.length,
      };
      console.info(
        tabulate([{ name: "update in a file", outcome: { figures, violations }, seconds }]),
      );
      expect(violations).toEqual([]);
      expect(unanswered(refused)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

function isTaken({ refusal }: Delivery): boolean {
  return refusal === undefined;
}
