import { mkdtemp, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Result, type RunResult, run, templates } from "../faces/create.ts";
import { TestProcess } from "../support/process.ts";
import { SCAFFOLD_TIMEOUT_MS, scaffoldedBot, withoutBotVariables } from "../support/scaffolded.ts";

/** Another test, start.system.test.ts, covers the starter. */
describe.each(["minimal", "assistant"])(
  "a bot scaffolded from the template %s and this checkout",
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
      // A bot is self-contained, so its folder can move.
      bot = join(parent, "moved");
      await rename(result.dir, bot);
    }, SCAFFOLD_TIMEOUT_MS);

    afterAll(async () => {
      if (parent !== undefined) await rm(parent, { recursive: true, force: true });
    });

    const npm = (...args: string[]): Promise<RunResult> =>
      run("npm", args, { cwd: bot, env: withoutBotVariables() });

    test("is installed, and is its own repository", async () => {
      expect(result).toMatchObject({ name: "first-bot", installed: true, git: true });
      expect((await stat(join(bot, "package-lock.json"))).isFile()).toBe(true);
    });

    test("passes its own tests", async () => {
      const { code, output } = await npm("test");
      expect(code, output).toBe(0);
      expect(output).toMatch(/pass [1-9]\d*/);
      expect(output).toMatch(/fail 0/);
    });

    test("has no type errors, and finds the declarations of service-bot", async () => {
      const { code, output } = await npm("run", "typecheck", "--", "--listFiles");
      expect(code, output).toBe(0);
      expect(output).toMatch(/node_modules\/service-bot\/dist\/index\.d\.ts/);
    });

    test("starts, is healthy, and exits with 0 on SIGTERM", async () => {
      const env = { PORT: "0", DELIVERY: "webhook" };
      const args = ["--import", "service-bot/env", "src/main.ts"];
      const running = new TestProcess(args, { cwd: bot, bareEnv: true, env });
      const { url } = await running.message("ready");
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
      running.kill("SIGTERM");
      expect(await running.exited, running.output()).toEqual({ code: 0, signal: null });
    });
  },
);

test.each(templates)(
  "a bot scaffolded from the template %s with --store postgres has no type errors, and passes its tests without a server",
  async (template) => {
    const parent = await mkdtemp(join(tmpdir(), "scaffold e2e "));
    onTestFinished(() => rm(parent, { recursive: true, force: true }));
    const flags = ["--template", template, "--store", "postgres", "--no-git"];
    const { dir, installed } = await scaffoldedBot(parent, "bot", flags);
    expect(installed).toBe(true);
    for (const script of ["typecheck", "test"]) {
      const { code, output } = await run("npm", ["run", script], {
        cwd: dir,
        env: withoutBotVariables(),
      });
      expect(code, output).toBe(0);
    }
  },
  SCAFFOLD_TIMEOUT_MS,
);
