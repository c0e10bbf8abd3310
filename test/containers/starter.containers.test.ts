import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentedBlock } from "../docs/markdown.ts";
import { reservePort } from "../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../support/scaffolded.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { PlatformProcess, SHARED_ACCESS } from "../support/world/platform-process.ts";
import { ComposeProject, DOMAIN } from "./support/compose.ts";
import { docker, hostAddress, withEngine } from "./support/given.ts";

/** In ms. Covers installing the bot, and starting its database and both services. */
const UP_TIMEOUT_MS = 600_000;

/** Lines from the page, with a domain whose certificate Caddy signs itself. */
const [NAME_LINE = "", UP = "", FOLLOW = "", ...MORE] = documentedBlock(
  "docs/deploy/docker.md",
  "docker",
)
  .replace("bot.example.org", DOMAIN)
  .trimEnd()
  .split("\n");

test("docs/start/first-bot.md has the commands of docs/deploy/docker.md, and these tests run each", () => {
  expect(MORE).toEqual([]);
  const lines = documentedBlock("docs/start/first-bot.md", "docker");
  expect(lines).toBe(documentedBlock("docs/deploy/docker.md", "docker"));
});

withEngine.each(["sqlite", "postgres"])("the starter on %s, run by its compose.yaml", (store) => {
  let folder: string;
  let project: ComposeProject;
  let platform: PlatformProcess;
  let conversation: string;
  const texts: string[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "containers-"));
    const flags = ["--store", store];
    project = await ComposeProject.scaffold(docker, folder, `starter-${store}`, flags);
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(async () => {
    await project?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function say(text: string): Promise<{ event: string; status: number | null }> {
    const message = await platform.write("ada", text);
    conversation = message.conversationId;
    texts.push(text);
    const { status } = await platform.delivery(message);
    await platform.says(`Hi Ada! You wrote: ${text}`);
    return { event: message.eventId, status };
  }

  async function expectAnswers(): Promise<void> {
    const answers = texts.map((text) => `Hi Ada! You wrote: ${text}`);
    expect(await platform.answers(conversation)).toEqual(answers);
  }

  test(
    "replies over https, keeps its inbox, is updated, and stops in time",
    async () => {
      project.explainFailure();
      const port = await reservePort();
      const host = await hostAddress();
      // The platform starts later, because it must trust the authority that Caddy creates.
      project.configure({ SERVICE_BASE_URL: `http://${host}:${port}`, ...SHARED_ACCESS });
      await project.type(NAME_LINE);
      await project.type(UP);
      const following = project.follow(FOLLOW);

      const root = "/data/caddy/pki/authorities/local/root.crt";
      const authority = join(temporaryFolder(), "root.crt");
      writeFileSync(
        authority,
        await docker.run("exec", await project.container("caddy"), "cat", root),
      );
      const flags = ["--host", host, "--port", String(port)];
      platform = await PlatformProcess.start({ flags, trusted: authority });
      await platform.deliverTo(`https://${DOMAIN}`);
      const { event, status } = await say("by https");
      expect(status).toBe(200);
      await following.line((line) => line.includes('"msg":"ready"'));
      const doctor = documentedBlock("docs/deploy/docker.md", "doctor");
      expect(await project.type(doctor)).toContain(":3000/webhook");

      // The inbox is in the volume, so the bot recognizes a retried delivery.
      await project.type("docker compose restart bot");
      await project.type("docker compose down");
      await project.type(UP);
      const again = await platform.control.deliver({ eventIds: [event] });
      expect(again).toMatchObject([{ status: 200 }]);
      await say("after an update");
      await expectAnswers();

      const bot = await project.container("bot");
      const lines = (await docker.logs(bot)).filter((line) => line !== "");
      for (const line of lines) expect(JSON.parse(line)).toHaveProperty("msg");

      const started = performance.now();
      await project.type("docker compose stop bot");
      expect(performance.now() - started).toBeLessThan(20_000);
      expect(await docker.inspect(bot, "json .State")).toMatchObject({
        ExitCode: 0,
        OOMKilled: false,
      });
    },
    UP_TIMEOUT_MS,
  );

  test(
    "replies without a public URL, a secret and Caddy",
    async () => {
      project.explainFailure();
      await project.type("docker compose down --volumes");
      const host = await hostAddress();
      platform = await PlatformProcess.start({ flags: ["--host", host] });
      const unset = { SERVICE_WEBHOOK_SECRET: "", BOT_DOMAIN: "" };
      project.configure({
        SERVICE_BASE_URL: platform.url,
        SERVICE_API_KEY: platform.apiKey,
        ...unset,
      });
      await project.type(documentedBlock("docs/deploy/overview.md", "polling"));
      // A new bot starts with the events that occur after its first read.
      await platform.happens("api", ({ path, status }) => path === "/events" && status === 200);
      const message = await platform.write("ada", "by polling");
      await platform.says("Hi Ada! You wrote: by polling");
      expect(await platform.answers(message.conversationId)).toHaveLength(1);
      expect(await project.container("caddy")).toBe("");
      // With a public URL, Caddy needs a domain name, and must report that it is missing.
      const start = "docker compose run --rm -T --no-deps caddy 2>&1 || echo ended with $?";
      expect(await project.type(start)).toMatch(
        /BOT_DOMAIN.* must be set in \.env.*ended with 2\s*$/s,
      );
    },
    UP_TIMEOUT_MS,
  );
});
