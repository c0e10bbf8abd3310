import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Exit } from "../support/child.ts";
import { linkPackage } from "../support/linked-package.ts";
import { TestProcess } from "../support/process.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const TEXT = "meet me at the old pier";
const PASSWORD = "pa@ss word/1";

/** Code that fails with a text `leak`, which contains secrets and the user's text. */
const failures = {
  timer: "setTimeout(() => { throw new Error(leak); }, 50);",
  rejection:
    "void Promise.reject(new Error('outer', { cause: new AggregateError([new Error(leak)], leak) }));",
  emitter:
    "setImmediate(() => new EventEmitter().emit('error', Object.assign(new Error('x'), { leak })));",
  text: "setTimeout(() => { throw leak; });",
  frozen: "setTimeout(() => { throw Object.freeze(new Error(leak)); });",
  object: "setTimeout(() => { throw { leak, nested: { leak } }; });",
};

interface Ended extends Exit {
  readonly printed: string;
}

/** Runs a bot that fails while it handles a message, and waits for its end. */
async function run(failure: string, { before = "", flags = [] as string[] } = {}): Promise<Ended> {
  const platform = await runPlatform();
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts", "./env": "./src/env.ts" });
  const file = join(folder, "main.ts");
  writeFileSync(
    file,
    `import { EventEmitter } from "node:events";
     import { Bot } from "service-bot";
     const key = process.env.SERVICE_API_KEY ?? "";
     const password = ${JSON.stringify(PASSWORD)};
     const secrets = [key, encodeURIComponent(password), Buffer.from("bot:" + key).toString("base64"),
       process.env.SERVICE_WEBHOOK_SECRET, password].join(" ");
     ${before}
     const bot = new Bot();
     bot.on("dm.message", (ctx) => {
       const leak = secrets + " " + ctx.payload.excerpt;
       ${failure}
     });
     await bot.start();
     console.log(bot.url);`,
  );
  const { url, apiKey, webhookSecret } = platform;
  const env = {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: webhookSecret,
    PORT: "0",
    DELIVERY: "webhook",
    PGPASSWORD: PASSWORD,
  };
  const child = new TestProcess([...flags, file], { cwd: folder, env });
  if (before === "") {
    const bot = await child.line((line) => line.startsWith("http:"));
    platform.control.saveWebhook({ url: `${bot}/webhook` });
    platform.control.act({ type: "dm.message", from: "ada", text: TEXT });
  }
  const exit = await child.exited;
  const printed = [...child.stdout, ...child.stderr].join("\n");
  for (const secret of [apiKey, webhookSecret, PASSWORD, encodeURIComponent(PASSWORD)]) {
    expect(printed).not.toContain(secret);
  }
  expect(printed).not.toContain(Buffer.from(`bot:${apiKey}`).toString("base64").slice(8, -4));
  return { ...exit, printed };
}

test.each(Object.entries(failures))(
  "an uncaught error ends a bot with code 1, without secrets and the user's text: %s",
  async (_name, failure) => {
    const { code, printed } = await run(failure);
    expect(code).toBe(1);
    expect(printed).not.toContain(TEXT);
    expect(printed).toMatch(/\[redacted\].*Node\.js v\d/s);
  },
);

test("a warning is printed without secrets and the user's text", async () => {
  const { code, printed } = await run(
    "process.emitWarning(leak, { code: 'OWN1', detail: leak }); setTimeout(() => process.exit(3), 200);",
  );
  expect(code).toBe(3);
  expect(printed).not.toContain(TEXT);
  expect(printed).toMatch(/\[OWN1\] Warning: .*\[redacted\]/);
});

test("an application's own listener still decides, and gets the error as it is", async () => {
  const { code, printed } = await run(
    `process.on("uncaughtException", (error) => {
       console.log("same " + (error.message === leak));
       process.exit(7);
     });
     setTimeout(() => { throw new Error(leak); });`,
  );
  expect(code).toBe(7);
  expect(printed).toContain("same true");
});

test("an error before the start is printed without the environment's secrets", async () => {
  const { code, printed } = await run("", {
    before: "throw new Error(secrets);",
    flags: ["--import", "service-bot/env"],
  });
  expect(code).toBe(1);
  expect(printed).toMatch(/Error: .*\[redacted\]/);
});

test("a warning before the start is printed without the environment's secrets", async () => {
  const { code, printed } = await run("", {
    before: "process.emitWarning(secrets); await new Promise(setImmediate); process.exit(4);",
    flags: ["--import", "service-bot/env"],
  });
  expect(code).toBe(4);
  expect(printed).toMatch(/Warning: .*\[redacted\]/);
});
