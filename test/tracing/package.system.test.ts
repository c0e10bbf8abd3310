import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { root } from "../docs/markdown.ts";
import { TestProcess } from "../support/process.ts";

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
  // Positive control: a package that is loaded does show up.
  expect(await packagesOf("on")).toContain("@opentelemetry/api");
});
