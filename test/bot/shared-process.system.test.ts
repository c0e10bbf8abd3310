import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { linkPackage } from "../support/linked-package.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { TestProcess } from "../support/process.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/**
 * Starts a process with two bots: `slow`, whose handler waits for a response from `gate`, and `quick`, which has no
 * handlers.
 */
async function runBoth(gate: string, last = ""): Promise<TestProcess> {
  const platform = await runPlatform();
  const folder = temporaryFolder();
  linkPackage(folder, { ".": "./src/index.ts" });
  const file = join(folder, "main.ts");
  writeFileSync(
    file,
    `import { Bot } from "service-bot";
     const slow = new Bot({ databaseUrl: "file:slow.db" });
     slow.on("dm.message", async () => {
       console.log("handling");
       await fetch(${JSON.stringify(gate)});
       console.log("handled to its end");
     });
     const quick = new Bot({ databaseUrl: "file:quick.db" });
     await slow.start();
     await quick.start();
     console.log(slow.url);
     ${last}`,
  );
  const { url, apiKey, webhookSecret } = platform;
  const env = {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: webhookSecret,
    PORT: "0",
    DELIVERY: "webhook",
  };
  const child = new TestProcess([file], { cwd: folder, env });
  const bot = await child.line((line) => line.startsWith("http:"));
  platform.control.saveWebhook({ url: `${bot}/webhook` });
  platform.control.act({ type: "dm.message", from: "ada", text: "hello" });
  await child.line((line) => line === "handling");
  return child;
}

async function makeGate(): Promise<{ url: string; open: () => void }> {
  const opened = Promise.withResolvers<void>();
  const server = createServer((_request, response) => {
    void opened.promise.then(() => response.end());
  });
  onTestFinished(() => opened.resolve());
  return { url: (await listenUntilEnd(server)).url, open: () => opened.resolve() };
}

test("SIGTERM stops both bots of a process, and the first to stop does not cut the other's handler", async () => {
  const gate = await makeGate();
  const child = await runBoth(gate.url);
  child.kill("SIGTERM");
  await child.message("stopped");
  gate.open();
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(child.stdout).toContain("handled to its end");
});

test("a bot that cannot start ends the process with its code after the handlers of the other bot", async () => {
  const gate = await makeGate();
  const child = await runBoth(
    gate.url,
    `process.stdin.once("end", () => undefined);
     setTimeout(() => void new Bot({ webhookPath: "none" }).start(), 200);`,
  );
  await child.line((line) => line.includes("WEBHOOK_PATH"), child.stderr);
  gate.open();
  expect(await child.exited).toEqual({ code: 2, signal: null });
  expect(child.stdout).toContain("handled to its end");
});
