import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PackCache } from "../../scripts/pack/cache.ts";
import { root } from "../create/harness.ts";
import { type RunResult, run } from "../faces/create.ts";
import { SIGNATURE_HEADER, sign } from "../faces/signature.ts";
import { message } from "../support/inbox-events.ts";
import { SCAFFOLD_TIMEOUT_MS, withoutBotVariables } from "../support/scaffolded.ts";
import { BotProcess } from "../support/world/bot-process.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { sqlite } from "../support/world/stores.ts";

const fixtures = join(root, "test/fixtures");

/** Conversation of the pending event in each old inbox. */
const conversation = "c_9";

const bots = readdirSync(fixtures).filter((name) => name.startsWith("bot-"));

/** Bots created by earlier versions, with the inboxes they left behind. See docs/operate/upgrading.md. */
describe.each(bots)("%s with this version of service-bot", { timeout: 60_000 }, (name) => {
  let folder: string;
  let bot: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "upgrade-"));
    bot = join(folder, name);
    cpSync(join(fixtures, name), bot, { recursive: true });
    const tarball = await new PackCache().packServiceBot(folder);
    // The update, as described in docs/operate/upgrading.md.
    await npm("install", tarball, "--no-audit", "--no-fund");
  }, SCAFFOLD_TIMEOUT_MS);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const npm = (...args: string[]): Promise<RunResult> =>
    done(run("npm", args, { cwd: bot, env: withoutBotVariables() }));

  test("passes its own tests", async () => {
    expect((await npm("test")).output).toMatch(/fail 0/);
  });

  test("has no type errors", async () => {
    await npm("run", "typecheck");
  });

  test("continues with its inbox: pending events are handled, and handled events are not handled again", async () => {
    const platform = await PlatformProcess.start();
    await begin(platform, conversation);
    const running = await BotProcess.start(platform, {
      script: "src/main.ts",
      flags: ["--import", "service-bot/env"],
      store: sqlite("data/bot.db"),
      cwd: bot,
      env: { DELIVERY: "webhook" },
    });
    const deliver = (id: string) => post(running.url, message(id, conversation).body, platform);
    await platform.says("Hi Ada! You wrote: text of evt_old_waiting");

    // Deliver again an event that was already handled, in a conversation where a second reply would be visible.
    expect(await deliver("evt_old_done")).toBe(200);
    expect(await deliver("evt_new")).toBe(200);
    await platform.says("Hi Ada! You wrote: text of evt_new");
    expect(await platform.answers(conversation)).toEqual([
      "Hi Ada! You wrote: text of evt_old_waiting",
      "Hi Ada! You wrote: text of evt_new",
    ]);
    await running.stop();

    const inbox = await run("npx", ["service-bot", "inbox", "show", "evt_old_dead"], {
      cwd: bot,
      env: withoutBotVariables(),
    });
    expect(inbox.output).toContain("TypeError: a mistake of the bot's");
  });
});

test("there is a bot of this or an earlier version to test against", () => {
  expect(bots.length).toBeGreaterThan(0);
});

async function done(running: Promise<RunResult>): Promise<RunResult> {
  const result = await running;
  if (result.code !== 0) throw new Error(`it ended with ${result.code}:\n${result.output}`);
  return result;
}

/** Lets new users write to the bot until the conversation with this id exists. */
async function begin(platform: PlatformProcess, conversation: string): Promise<void> {
  for (let n = 1; n < 100; n++) {
    const { conversationId } = await platform.write(`person_${n}`, "hello");
    if (conversationId === conversation) return;
  }
  throw new Error(`there is no conversation ${conversation}`);
}

async function post(
  origin: string,
  event: string,
  { webhookSecret }: PlatformProcess,
): Promise<number> {
  const body = `{"events":[${event}]}`;
  const headers = { [SIGNATURE_HEADER]: sign(body, webhookSecret, Date.now() / 1000) };
  const response = await fetch(`${origin}/webhook`, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}
