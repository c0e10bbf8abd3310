import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { documentedBlock } from "../docs/markdown.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../support/scaffolded.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { ComposeProject } from "./support/compose.ts";
import { BotContainer } from "./support/container.ts";
import { docker, hostAddress, withEngine } from "./support/given.ts";

const IMAGE = "service-bot-test/hardened";

/** In bytes. Measured: 268 MB with these tests' base images, of which Debian and Node take 248 MB. */
const MAX_SIZE = 290_000_000;

const HOME = "/bot";

interface Package {
  readonly name: string;
  readonly version: string;
}

withEngine("the image of a scaffolded bot", () => {
  let folder: string;
  let project: ComposeProject;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "hardened-"));
    project = await ComposeProject.scaffold(docker, folder, "hardened");
    await docker.run("build", "--tag", IMAGE, project.dir);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const inside = (...command: readonly string[]) => docker.run("run", "--rm", IMAGE, ...command);

  test("is small enough, and has only the bot, what it imports and Node", async () => {
    const size = await docker.inspect<number>(IMAGE, "json .Size");
    process.stderr.write(`the image has ${Math.round(size / 1e6)} MB\n`);
    expect(size).toBeLessThan(MAX_SIZE);
    expect(await inside("sh", "-c", "command -v npm npx corepack yarn || echo none")).toBe("none");
    expect(await inside("ls", HOME)).toBe("data\ndist\nnode_modules\npackage.json");
    expect(await inside("ls", `${HOME}/node_modules`)).not.toMatch(/^typescript$/m);
  });

  test("contains none of the project's secrets in any layer", async () => {
    const text = readFileSync(join(project.dir, ".env"), "utf8");
    const secrets = text.match(/(?<==)(?:sbk_|whsec_)\w+/g) ?? [];
    expect(secrets).toHaveLength(2);
    // Positive control: the search does find text in a layer.
    const known = '"name": "hardened"';
    expect(await findInLayers([known, ...secrets])).toEqual([known]);
  });

  test("contains only packages from the bill of materials", async () => {
    await project.type(documentedBlock("docs/deploy/docker.md", "sbom"));
    const { components } = JSON.parse(readFileSync(join(project.dir, "sbom.json"), "utf8"));
    const listed = components.map(({ name, version }: Package) => `${name}@${version}`);
    const list = `
      const { readdirSync, readFileSync } = require("node:fs");
      const found = readdirSync("node_modules", { recursive: true })
        .filter((path) => /(^|node_modules\\/)(@[^/]+\\/)?[^/@]+\\/package\\.json$/.test(path))
        .map((path) => JSON.parse(readFileSync("node_modules/" + path)));
      console.log(JSON.stringify(found.map(({ name, version }) => name + "@" + version)));`;
    const installed: string[] = JSON.parse(await inside("node", "-e", list));
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.filter((name) => !listed.includes(name))).toEqual([]);
  });

  test.each([
    { who: "its own user", uid: "1000:1000" },
    { who: "an arbitrary user in the group of root, as OpenShift has it", uid: "1000650000:0" },
  ])(
    "runs without privileges, as $who, and exits on SIGTERM without an init process",
    async ({ uid }) => {
      const host = await hostAddress();
      const platform = await PlatformProcess.start({ flags: ["--host", host] });
      const bot = await BotContainer.run(docker, "hardened", {
        image: IMAGE,
        // A volume inherits its owner from the image.
        flags: ["--user", uid, "--memory", "256m", "--volume", `${HOME}/data`],
        env: {
          ...{ SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: platform.apiKey },
          ...{ SERVICE_WEBHOOK_SECRET: platform.webhookSecret, DATABASE_URL: "file:data/bot.db" },
        },
      });
      onTestFinished(() => bot.remove());
      await bot.ready();
      await platform.deliverTo(bot.url);
      const written = await platform.write("ada", "hardened");
      expect(await platform.delivery(written)).toMatchObject({ status: 200 });
      await platform.says("Hi Ada! You wrote: hardened");

      const status = await docker.run("exec", bot.name, "cat", "/proc/1/status");
      expect(status).toMatch(/^Name:\s+(?:node|MainThread)$/m);
      expect(status).toMatch(/^CapEff:\s+0+$/m);
      expect(status).toMatch(/^CapBnd:\s+0+$/m);
      expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
      expect(await docker.succeeds("exec", bot.name, "touch", `${HOME}/x`)).toBe(false);
      expect(await docker.succeeds("exec", bot.name, "touch", `${HOME}/data/x`)).toBe(true);

      // The engine's description contains the secrets only in the environment.
      const { Config, ...rest } = await docker.inspect<{ Config: { Env: string[] } }>(bot.name);
      const { Env, ...config } = Config;
      expect(Env).toContain(`SERVICE_WEBHOOK_SECRET=${platform.webhookSecret}`);
      expect(JSON.stringify([rest, config])).not.toContain(platform.webhookSecret);
      expect(JSON.stringify([rest, config])).not.toContain(platform.apiKey);

      const stopped = await bot.stop();
      expect(stopped).toMatchObject({ ExitCode: 0, OOMKilled: false });
      expect(stopped.tookMs).toBeLessThan(10_000);
    },
  );
});

/** Returns the texts that occur in one of the image's layers or in its configuration. */
async function findInLayers(texts: readonly string[]): Promise<string[]> {
  const saving = spawn("docker", ["save", IMAGE], { env: { ...process.env, ...docker.env } });
  const found = new Set<string>();
  const longest = Math.max(...texts.map((text) => text.length));
  let before = Buffer.alloc(0);
  for await (const chunk of saving.stdout) {
    const bytes = Buffer.concat([before, chunk]);
    for (const text of texts) if (bytes.includes(text)) found.add(text);
    before = bytes.subarray(Math.max(0, bytes.length - longest));
  }
  return [...found];
}
