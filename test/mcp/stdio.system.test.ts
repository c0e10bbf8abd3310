import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceBotEnds } from "../cli/cli.ts";
import { world } from "../client/platform.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { COMPILE_CACHE } from "../support/process.ts";

const MAIN = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** `service-bot mcp` with pipes, and what it writes. */
class Pipes {
  readonly child: ChildProcess;
  readonly out: string[] = [];
  readonly #lines: AsyncIterator<string>;

  constructor(env: Record<string, string>) {
    this.child = spawn(process.execPath, [MAIN, "mcp"], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    onTestFinished(() => void this.child.kill("SIGKILL"));
    const { stdout } = this.child;
    if (stdout === null) throw new Error("There is no pipe.");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  write(...lines: readonly (object | string)[]): void {
    for (const line of lines) {
      this.child.stdin?.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
    }
  }

  /** The next line of standard output, which must be a message of the protocol. */
  async next(): Promise<Record<string, unknown>> {
    const { value } = await this.#lines.next();
    const message = JSON.parse(String(value));
    expect(message.jsonrpc).toBe("2.0");
    return message;
  }

  async exit(): Promise<[number | null, NodeJS.Signals | null]> {
    if (this.child.exitCode !== null) return [this.child.exitCode, null];
    return (await once(this.child, "exit")) as [number | null, NodeJS.Signals | null];
  }
}

async function started() {
  const { platform } = await world();
  const env = { SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: platform.apiKey };
  return { platform, pipes: new Pipes(env) };
}

describe("standard output", () => {
  test("has nothing but the protocol, also at LOG_LEVEL=trace and when something fails", async () => {
    const { platform } = await world();
    const pipes = new Pipes({
      SERVICE_BASE_URL: platform.url,
      SERVICE_API_KEY: platform.apiKey,
      LOG_LEVEL: "trace",
    });
    pipes.write("this is no message", INITIALIZE);
    const messages = [await pipes.next()];
    if (messages[0]?.id === null) messages.push(await pipes.next());
    expect(messages.at(-1)).toMatchObject({
      id: 0,
      result: { serverInfo: { name: "service-bot" } },
    });
    pipes.write({ jsonrpc: "2.0", method: "notifications/initialized" });
    pipes.write({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "no_such_tool" } });
    expect(await pipes.next()).toMatchObject({ id: 1, error: { code: -32_602 } });
  });
});

test("each write is a line on standard error, with its id and without its text", async () => {
  const { pipes } = await started();
  const { stderr } = pipes.child;
  if (stderr === null) throw new Error("There is no pipe.");
  const lines = createInterface({ input: stderr })[Symbol.asyncIterator]();
  pipes.write(INITIALIZE);
  await pipes.next();
  const calls = [
    { name: "service_get_feed", arguments: {} },
    { name: "service_create_post", arguments: { text: "between us" } },
  ];
  for (const [n, params] of calls.entries()) {
    pipes.write({ jsonrpc: "2.0", id: n + 1, method: "tools/call", params });
    await pipes.next();
  }
  const { value } = await lines.next();
  expect(JSON.parse(String(value))).toMatchObject({
    level: "info",
    tool: "service_create_post",
    id: expect.stringMatching(/^p_/),
    msg: "written",
  });
  expect(value).not.toContain("between us");
});

describe("it ends", () => {
  test("when standard input is closed", async () => {
    const { pipes } = await started();
    pipes.write(INITIALIZE);
    await pipes.next();
    pipes.child.stdin?.end();
    expect(await pipes.exit()).toEqual([0, null]);
  });

  test("when nobody has said anything yet, and standard input is closed", async () => {
    const { pipes } = await started();
    pipes.child.stdin?.end();
    expect(await pipes.exit()).toEqual([0, null]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("at %s, with its input still open", async (signal) => {
    const { pipes } = await started();
    pipes.write(INITIALIZE);
    await pipes.next();
    pipes.child.kill(signal);
    expect(await pipes.exit()).toEqual([0, null]);
  });

  test.each(["end of input", "SIGTERM"])(
    "and waits for no platform that hangs: %s",
    async (how) => {
      const asked = Promise.withResolvers<void>();
      let requests = 0;
      const { url } = await listenUntilEnd(
        createServer(() => {
          requests += 1;
          asked.resolve();
        }),
      );
      const pipes = new Pipes({ SERVICE_BASE_URL: url, SERVICE_API_KEY: "sbk_any" });
      pipes.write(INITIALIZE, { jsonrpc: "2.0", id: 1, method: "tools/list" });
      await asked.promise;
      if (how === "SIGTERM") pipes.child.kill("SIGTERM");
      else pipes.child.stdin?.end();
      expect(await pipes.exit()).toEqual([0, null]);
      // Had it waited for the first answer, it would have asked for the other scopes, too.
      expect(requests).toBe(1);
    },
  );

  test("when whoever has started it is killed", async () => {
    const { platform } = await world();
    const grandparent = spawn(
      process.execPath,
      [
        "-e",
        `const { spawn } = require("node:child_process");
         const child = spawn(process.execPath, [${JSON.stringify(MAIN)}, "mcp"], { stdio: ["pipe", "inherit", "inherit"] });
         child.stdin.write(${JSON.stringify(`${JSON.stringify(INITIALIZE)}\n`)});`,
      ],
      {
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          SERVICE_BASE_URL: platform.url,
          SERVICE_API_KEY: platform.apiKey,
        },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    onTestFinished(() => void grandparent.kill("SIGKILL"));
    const { stdout } = grandparent;
    await once(stdout, "data");
    grandparent.kill("SIGKILL");
    // The pipe ends when the last of those who could write into it has ended.
    stdout.resume();
    await once(stdout, "end");
  });
});

describe("what is wrong is told on standard error, with exit code 2", () => {
  test("a configuration that is not complete, all of it at once", async () => {
    const { code, out, err } = await serviceBotEnds(["mcp"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("SERVICE_BASE_URL");
    expect(err).toContain("SERVICE_API_KEY");
  });

  test.each([
    [["--scopes", "read,write"], 'read,posts:write,comments:write,dm (got "write")'],
    [["--host", "0.0.0.0"], "--host and --allow-host go with --http PORT."],
    [["--http", "many"], "--http takes a whole number from 0 to 65535."],
    [["extra"], '"extra" is one word too many.'],
  ])("%j", async (args, words) => {
    const { code, out, err } = await serviceBotEnds(["mcp", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(words);
    expect(err).toContain("Usage: service-bot mcp");
  });
});
