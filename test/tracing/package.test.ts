import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { root } from "../docs/markdown.ts";
import { loadApi } from "../faces/tracing.ts";
import { TestProcess } from "../support/process.ts";
import { World } from "./bot.ts";

/** Starts and stops a bot, and tells the packages that were asked for meanwhile. */
const code = `
import { registerHooks } from "node:module";
const asked = new Set();
registerHooks({
  resolve(specifier, context, next) {
    asked.add(specifier);
    return next(specifier, context);
  },
});
const { Bot } = await import(${JSON.stringify(String(pathToFileURL(join(root, "src/index.ts"))))});
const bot = new Bot({ env: process.env, databaseUrl: "file::memory:", delivery: "webhook" });
bot.on("dm.message", () => undefined);
await bot.start({ listen: false });
await bot.stop();
console.log("asked for " + [...asked].filter((name) => !/^[./]|^node:/.test(name)).join(" "));
`;

async function packagesOf(tracing: string): Promise<string[]> {
  const env = {
    SERVICE_BASE_URL: "http://platform.test",
    SERVICE_API_KEY: "key",
    SERVICE_WEBHOOK_SECRET: "whsec_of_this_test",
    TRACING: tracing,
  };
  const child = new TestProcess(["--input-type=module", "--eval", code], { env });
  expect(await child.exited, child.output()).toMatchObject({ code: 0 });
  const line = await child.line((text) => text.startsWith("asked for "));
  return line.split(" ").slice(2);
}

test("a bot that does not trace never asks for OpenTelemetry", async () => {
  const off = await packagesOf("off");
  expect(off).toContain("pino");
  expect(off.filter((name) => name.startsWith("@opentelemetry/"))).toEqual([]);
  // It would have been seen.
  expect(await packagesOf("on")).toContain("@opentelemetry/api");
});

test("a start is refused where the API is not installed, with what to do", async () => {
  const missing = Object.assign(new Error("Cannot find package '@opentelemetry/api'"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  await expect(loadApi(() => Promise.reject(missing))).rejects.toMatchObject({
    code: "TRACING_MISSING",
    message: expect.stringContaining("npm install @opentelemetry/api"),
  });
});

test("a bot warns when nobody takes up its spans, and traces in the log alone", async () => {
  const world = new World();
  const bot = await world.start((bot) => bot.on("dm.message", () => undefined), { tracing: "on" });
  expect(
    world.records.filter((line) => line.level === "warn" && !("platform" in line)),
  ).toHaveLength(1);
  await world.deliver(bot, [world.message("hi")]);
  const { trace } = await bot.inbox.show("evt_1");
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect(world.records.find(({ attempt }) => attempt === 1)).toMatchObject({ trace });
});
