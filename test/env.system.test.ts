import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

const preload = new URL("../src/env.ts", import.meta.url).href;

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "service bot "));
  const made = folder;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program that prints two variables. Like a bot's scripts, it loads the module under test first. */
function run(
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Ended> {
  const program = "console.log(JSON.stringify([process.env.ONE ?? null, process.env.TWO ?? null]))";
  const imports = [...before, preload].flatMap((url) => ["--import", url]);
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [...imports, "--eval", program], {
    cwd: folder,
    env: { PATH, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

describe("service-bot/env", () => {
  test("reads .env before the program runs", async () => {
    await writeFile(join(folder, ".env"), 'ONE=1\n# a comment\nTWO="two words"\n');
    expect(await run()).toMatchObject({ code: 0, stdout: '["1","two words"]\n' });
  });

  test("leaves alone what the environment has set", async () => {
    await writeFile(join(folder, ".env"), "ONE=file\nTWO=file\n");
    expect(await run({ ONE: "environment" })).toMatchObject({
      code: 0,
      stdout: '["environment","file"]\n',
    });
  });

  test("works without a .env, and prints nothing", async () => {
    expect(await run({ ONE: "1" })).toEqual({ code: 0, stdout: '["1",null]\n', stderr: "" });
  });

  test("stops with 2 and one line when .env cannot be read, before the program runs", async () => {
    await mkdir(join(folder, ".env"));
    const { code, stdout, stderr } = await run();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]*\.env[^\n]*\n$/);
  });

  test("stops with 2 and the remedy on a Node that is too old, before the program runs", async () => {
    const older = join(folder, "older.mjs");
    await writeFile(
      older,
      `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.19.0" } });`,
    );
    await writeFile(join(folder, ".env"), "ONE=1\n");
    const { code, stdout, stderr } = await run({}, [pathToFileURL(older).href]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/20\.19\.0.*npm install/);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
