import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

async function run(script: string): Promise<string> {
  const module = new URL("../../src/platform/index.ts", import.meta.url).href;
  const source = `import { startPlatform } from ${JSON.stringify(module)};\n${script}`;
  const args = ["--input-type=module", "--eval", source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 15_000 });
  return stdout;
}

test("a process that has stopped its platform exits on its own", async () => {
  const stdout = await run(`
    const platform = await startPlatform({ retryIntervalMs: 600_000 });
    platform.control.saveWebhook({ url: "http://127.0.0.1:9/" });
    platform.control.act({ type: "follow", from: "ada" });
    await platform.waitFor("delivery");
    platform.control.setFaults({ api: { mode: "hold" } });
    fetch(platform.url + "/api/v1/me").catch(() => {});
    await platform.waitFor("fault", ({ change }) => change === "held");
    platform.waitFor("delivery", ({ attempt }) => attempt === 2).catch(() => {});
    await platform.stop();
    console.log("stopped");
  `);
  expect(stdout).toBe("stopped\n");
});

test("a listener that throws does not affect the platform", async () => {
  const stdout = await run(`
    process.on("uncaughtException", (error) => console.log("uncaught:", error.message));
    const platform = await startPlatform();
    platform.control.saveWebhook({ url: "http://127.0.0.1:9/" });
    platform.onTimeline(({ kind }) => { throw new Error(kind); });
    console.log(platform.control.act({ type: "follow", from: "ada" }).events.length);
    await platform.waitFor("delivery");
    await platform.stop();
  `);
  expect(stdout).toBe("1\nuncaught: event\nuncaught: delivery\n");
});
