import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { world } from "../client/platform.ts";
import { CLI } from "../faces/files.ts";
import { startWithDownloads } from "../platform/uploads/start.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { COMPILE_CACHE } from "../support/process.ts";
import { call, failureIn } from "./call.ts";
import { connected } from "./connect.ts";
import { calling, garbage, initialize } from "./hostile/raw.ts";

/** Runs `service-bot mcp` as a process, to test its streams, how it ends, and the official client that starts it. */

function environment(url: string, apiKey: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    LOG_LEVEL: "trace",
  };
}

function start(url: string, apiKey: string) {
  const child = spawn(process.execPath, [CLI, "mcp"], { env: environment(url, apiKey) });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin.on("error", () => undefined);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    stderr: text(child.stderr),
    write: (...messages: readonly (object | string)[]) => {
      for (const message of messages) {
        child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
      }
    },
    /** Resolves to the next line, which must be a JSON-RPC message. */
    next: async (): Promise<Record<string, unknown>> => {
      const message = JSON.parse(String((await lines.next()).value));
      expect(message.jsonrpc).toBe("2.0");
      return message;
    },
    ended: lines.next.bind(lines),
  };
}

async function exitCode(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

test.each(["legacy", "modern"] as const)("the official client starts it, %s", async (era) => {
  const { platform } = await world({}, startWithDownloads);
  const env = environment(platform.url, platform.apiKey);
  const client = await connected(
    new StdioClientTransport({
      ...{ command: process.execPath, args: [CLI, "mcp"], env, stderr: "ignore" },
    }),
    era,
  );
  expect((await client.listTools()).tools).toHaveLength(13);
  const { result } = await call(client, "service_get_me");
  expect(result.structuredContent).toMatchObject({ username: "bot" });
  const failed = failureIn(await call(client, "service_get_post", { postId: "p_99" }));
  expect(failed).toMatchObject({ code: "NOT_FOUND", status: 404 });
});

test("standard output has nothing but the protocol, and standard error each write without its text", async () => {
  const { platform } = await world({}, startWithDownloads);
  const { child, stderr, write, next, ended } = start(platform.url, platform.apiKey);
  write(...garbage, initialize);
  expect(await next()).toMatchObject({ id: "init", result: { serverInfo: {} } });
  write(...garbage, calling(1, "no_such_tool"));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32_602 } });
  write(calling(2, "service_create_post", { text: "between us" }));
  expect(await next()).toMatchObject({ id: 2, result: { structuredContent: {} } });
  child.stdin.end();
  expect([await ended(), await exitCode(child)]).toMatchObject([{ done: true }, 0]);
  const log = await stderr;
  const written = log.split("\n").find((line) => line.includes('"service_create_post"'));
  expect(JSON.parse(written ?? "")).toMatchObject({
    ...{ level: "info", tool: "service_create_post", id: expect.stringMatching(/^p_/) },
  });
  expect(log).not.toContain("between us");
  expect(log).not.toContain(platform.apiKey);
});

test("it ends when standard input is closed before the first message", async () => {
  const { child } = start("http://127.0.0.1:9", "sbk_any");
  child.stdin.end();
  expect(await exitCode(child)).toBe(0);
});

test.each(["end of input", "SIGTERM"])("it ends while its platform hangs: %s", async (how) => {
  const asked = Promise.withResolvers<void>();
  let requests = 0;
  const { url } = await listenUntilEnd(
    createServer(() => {
      requests += 1;
      asked.resolve();
    }),
  );
  const { child, write } = start(url, "sbk_any");
  write(initialize, { jsonrpc: "2.0", id: 1, method: "tools/list" });
  await asked.promise;
  if (how === "SIGTERM") child.kill("SIGTERM");
  else child.stdin.end();
  expect(await exitCode(child)).toBe(0);
  // Had the response been a success, the server would have probed the other scopes too.
  expect(requests).toBe(1);
});

test("it ends when the process that started it is killed", async () => {
  const { platform } = await world({}, startWithDownloads);
  const parent = spawn(
    process.execPath,
    [
      "-e",
      `const { spawn } = require("node:child_process");
       const child = spawn(process.execPath, [${JSON.stringify(CLI)}, "mcp"], { stdio: ["pipe", "inherit", "inherit"] });
       child.stdin.write(${JSON.stringify(`${JSON.stringify(initialize)}\n`)});`,
    ],
    {
      env: environment(platform.url, platform.apiKey),
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void parent.kill("SIGKILL"));
  const { stdout } = parent;
  await once(stdout, "data");
  parent.kill("SIGKILL");
  // The pipe closes when the last process that holds it has ended.
  stdout.resume();
  await once(stdout, "end");
});
