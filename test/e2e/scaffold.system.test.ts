import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answers } from "../../scripts/registry/answers.ts";
import { type Result, type RunResult, run, templates } from "../faces/create.ts";
import { reservePort } from "../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS, scaffoldedBot, withoutBotVariables } from "../support/scaffolded.ts";

describe.each(templates)(
  "a bot of the template %s, made from this checkout",
  {
    timeout: SCAFFOLD_TIMEOUT_MS,
  },
  (template) => {
    let parent: string;
    let result: Result;
    let bot: string;

    beforeAll(async () => {
      parent = await mkdtemp(join(tmpdir(), "scaffold e2e "));
      result = await scaffoldedBot(parent, "First Bot", ["--template", template]);
      // A bot that is complete in itself does not mind being moved.
      bot = join(parent, "moved");
      await rename(result.dir, bot);
    }, SCAFFOLD_TIMEOUT_MS);

    afterAll(async () => {
      if (parent !== undefined) await rm(parent, { recursive: true, force: true });
    });

    const npm = (...args: string[]): Promise<RunResult> =>
      run("npm", args, { cwd: bot, env: withoutBotVariables() });

    test("is installed, and is a repository of its own", async () => {
      expect(result).toMatchObject({ name: "first-bot", installed: true, git: true });
      expect((await stat(join(bot, "package-lock.json"))).isFile()).toBe(true);
    });

    test("passes its own tests", async () => {
      const { code, output } = await npm("test");
      expect(code, output).toBe(0);
      expect(output).toMatch(/pass [1-9]\d*/);
      expect(output).toMatch(/fail 0/);
    });

    test("has no type errors", async () => {
      const { code, output } = await npm("run", "typecheck");
      expect(code, output).toBe(0);
    });

    test("would notice a wrong type: the declarations of service-bot are found", async () => {
      const tsc = join(bot, "node_modules/typescript/bin/tsc");
      const { output } = await run(process.execPath, [tsc, "--listFiles"], { cwd: bot, env: {} });
      expect(output).toMatch(/node_modules\/service-bot\/dist\/index\.d\.ts/);
    });

    test("starts, says that it lives, and ends with 0 on SIGTERM", async () => {
      const port = await reservePort();
      const started = start(bot, port);
      const isRunning = () => started.child.exitCode === null;
      try {
        const lives = await answers(`http://127.0.0.1:${port}/healthz`, isRunning);
        expect(lives, started.output()).toBe(true);
        started.child.kill("SIGTERM");
        const [code] = await once(started.child, "exit");
        expect(code, started.output()).toBe(0);
      } finally {
        started.child.kill("SIGKILL");
      }
    });
  },
);

/** The bot without npm around it, which would keep the signal to itself. */
function start(bot: string, port: number): { child: ChildProcess; output: () => string } {
  const env = { ...withoutBotVariables(), PORT: String(port), DELIVERY: "webhook" };
  const args = ["--import", "service-bot/env", "src/main.ts"];
  const child = spawn(process.execPath, args, { cwd: bot, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  return { child, output: () => output };
}
