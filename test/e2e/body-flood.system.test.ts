import { expect, onTestFinished, test } from "vitest";
import { CLI } from "../faces/files.ts";
import { sign } from "../faces/signature.ts";
import { type FloodTarget, openRequest, peakMemory, sendChunks } from "../support/floods.ts";
import { TestProcess } from "../support/process.ts";
import { runPlatform } from "../support/running-bot.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { BotProcess } from "../support/world/bot-process.ts";

/** The limits of a small machine: heap size in MB, and growth of the process in bytes. */
const HEAP_FLAG = "--max-old-space-size=128";
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;

/**
 * Time limit for a genuine request, in ms. An idle machine needs less than a second, but this process also sends the
 * floods, which delays its own requests.
 */
const MAX_WAIT_MS = 10_000;

const CONNECTIONS = 5;

const UNFINISHED = 300;
const unfinished = Buffer.alloc(1_048_575, "x");

const SECRET = "whsec_of_this_test";

interface Target extends FloodTarget {
  readonly process: TestProcess;
  readonly heads: readonly (readonly string[])[];
  genuine(): Promise<number>;
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<number> {
  const all = { "content-type": "application/json", ...headers };
  const response = await fetch(url, { method: "POST", body, headers: all });
  await response.text();
  return response.status;
}

const now = () => Date.now() / 1000;

const targets: readonly [string, () => Promise<Target>][] = [
  [
    "the bot",
    async () => {
      const nowhere = {
        url: "http://127.0.0.1:9",
        apiKey: "for-tests-only",
        webhookSecret: SECRET,
      };
      const env = { DELIVERY: "webhook" };
      const bot = await BotProcess.start(nowhere, { flags: [HEAP_FLAG], env });
      const { url } = bot;
      const body = JSON.stringify({ events: [] });
      return {
        ...{ process: bot, url, path: "/webhook" },
        heads: [[], [`x-service-signature: ${sign("another body", SECRET, now())}`]],
        genuine: () =>
          post(`${url}/webhook`, body, { "x-service-signature": sign(body, SECRET, now()) }),
      };
    },
  ],
  [
    "the local platform",
    async () => {
      const args = [HEAP_FLAG, CLI, "platform", "--port", "0", "--json"];
      const platform = new TestProcess(args, { bareEnv: true, cwd: temporaryFolder() });
      const { url, apiKey } = JSON.parse(await platform.line((line) => line.startsWith("{")));
      const authorization = `Bearer ${apiKey}`;
      const json = "content-type: application/json";
      const body = JSON.stringify({ text: "hello" });
      return {
        ...{ process: platform, url, path: "/api/v1/posts" },
        heads: [[json], [json, `authorization: ${authorization}`]],
        genuine: () => post(`${url}/api/v1/posts`, body, { authorization }),
      };
    },
  ],
  [
    "MCP over HTTP",
    async () => {
      const platform = await runPlatform();
      const mcp = new TestProcess([HEAP_FLAG, CLI, "mcp", "--http", "0"], {
        bareEnv: true,
        env: { SERVICE_BASE_URL: platform.url },
      });
      const line = await mcp.line((text) => text.includes("http://"));
      const [url = ""] = /http:\/\/[\d.:]+/.exec(line) ?? [];
      const authorization = `Bearer ${platform.apiKey}`;
      const json = "content-type: application/json";
      const accept = "application/json, text/event-stream";
      const clientInfo = { name: "test", version: "1" };
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      return {
        ...{ process: mcp, url, path: "/mcp" },
        heads: [[json], [json, `authorization: ${authorization}`]],
        genuine: () => post(`${url}/mcp`, body, { authorization, accept }),
      };
    },
  ],
];

async function timeOf(target: Target): Promise<number> {
  const asked = performance.now();
  expect(await target.genuine()).toBeLessThan(300);
  return performance.now() - asked;
}

test.skipIf(process.platform !== "linux").each(targets)(
  "unsigned bodies neither fill its memory nor delay it: %s",
  async (name, start) => {
    const target = await start();
    await timeOf(target);
    const before = peakMemory(target.process.pid ?? 0);
    const waits: number[] = [];
    for (const head of target.heads) {
      const floods = Array.from({ length: CONNECTIONS }, () => sendChunks(target, head));
      waits.push(await timeOf(target));
      await Promise.all(floods);
    }
    const head = [...(target.heads.at(-1) ?? []), `content-length: ${unfinished.length + 1}`];
    for (let count = 0; count < UNFINISHED; count++) {
      const socket = await openRequest(target, head);
      onTestFinished(() => void socket.destroy());
      socket.write(unfinished);
    }
    waits.push(await timeOf(target));
    const grown = peakMemory(target.process.pid ?? 0) - before;
    const figures = `${name}: ${waits.map(Math.round)} ms, ${Math.round(grown / 1e6)} MB more`;
    if (process.env.SHOW_FIGURES !== undefined) process.stderr.write(`${figures}\n`);
    expect(grown, figures).toBeLessThan(MAX_GROWTH_BYTES);
    expect(Math.max(...waits), figures).toBeLessThan(MAX_WAIT_MS);
  },
  120_000,
);
