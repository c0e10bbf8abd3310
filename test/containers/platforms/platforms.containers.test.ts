import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { API_KEY, PlatformProcess, SECRET } from "../../e2e/proxy/world.ts";
import type { Finding } from "../../faces/cli.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { ComposeProject } from "../support/compose.ts";
import { BotContainer } from "../support/container.ts";
import { docker, hostAddress, withEngine } from "../support/given.ts";

const IMAGE = "service-bot-test/platforms";
const NAME = "platforms";

/** The folder of the bot's memory in the image. */
const DATA = "/bot/data";

/** A volume that belongs to root, whatever the image has at its place. */
const ROOTS_VOLUME = ["--mount", `type=volume,source=${NAME},target=${DATA},volume-nocopy`];

withEngine("the image of a scaffolded bot, as platforms run it", () => {
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "platforms-"));
    const project = await ComposeProject.scaffold(docker, folder, NAME);
    await docker.run("build", "--tag", IMAGE, project.dir);
  }, SCAFFOLD_TIMEOUT_MS + 120_000);

  afterAll(async () => {
    await docker.succeeds("volume", "rm", "--force", NAME);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the bot with what its owner sets, and what the platform adds. */
  async function run(flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const host = await hostAddress();
    const platform = await PlatformProcess.start(temporaryFolder(), undefined, ["--host", host]);
    const access = { SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: API_KEY };
    const bot = await BotContainer.run(docker, NAME, {
      image: IMAGE,
      flags,
      env: { ...access, SERVICE_WEBHOOK_SECRET: SECRET, ...env },
    });
    onTestFinished(() => bot.remove());
    return { platform, bot };
  }

  /** The findings of `service-bot doctor` in the container that are warnings. */
  async function warnings(): Promise<readonly Finding[]> {
    const doctor = ["exec", NAME, "node_modules/.bin/service-bot", "doctor", "--json"];
    const { findings }: { findings: Finding[] } = JSON.parse(await docker.run(...doctor));
    return findings.filter(({ area, level }) => area === "database" && level === "warn");
  }

  test("listens at the PORT that is given, and ends on SIGINT within the 5 s of Fly", async () => {
    const { platform, bot } = await run(["--volume", DATA], { PORT: "8080" });
    await bot.ready();
    await platform.control.saveWebhook({ url: `${bot.url}/webhook` });
    const { event } = await platform.message("at 8080");
    expect(await platform.delivery(event)).toMatchObject({ status: 200 });
    await platform.answer("Hi Ada! You wrote: at 8080");
    expect(await warnings()).toEqual([]);
    const started = performance.now();
    await docker.run("kill", "--signal", "SIGINT", NAME);
    expect(await docker.run("wait", NAME)).toBe("0");
    const tookMs = performance.now() - started;
    console.info(`SIGINT ended the bot in ${(tookMs / 1000).toFixed(1)} s`);
    expect(tookMs).toBeLessThan(5_000);
  });

  test.each([
    { what: "in the container", flags: ["--read-only=false"], word: "container" },
    { what: "in memory", flags: ["--tmpfs", `${DATA}:uid=1000`], word: "tmpfs" },
  ])("its doctor warns of a file $what", async ({ flags, word }) => {
    const { bot } = await run(flags);
    await bot.ready();
    expect(await warnings()).toMatchObject([{ what: expect.stringContaining(word) }]);
  });

  test("a volume of root stops the bot with the reason, and serves a bot that is root", async () => {
    await run(ROOTS_VOLUME);
    expect(await docker.run("wait", NAME)).toBe("1");
    const output = (await docker.logs(NAME)).join("\n");
    expect(output).toContain(`${DATA}/bot.db-lock cannot be opened`);
    expect(output).toContain(`User 1000 may not write to ${DATA} (owner 0`);
    const { bot } = await run([...ROOTS_VOLUME, "--user", "0"]);
    await bot.ready();
    expect(await warnings()).toEqual([]);
  });
});
