import { execFile } from "node:child_process";
import { chmod, cp, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ERRORS_SOURCE } from "../faces/files.ts";
import { nodeOlderThanBots } from "../support/older-node.ts";
import { everythingIn, root, temporaryDirectory } from "./harness.ts";

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function create(
  argv: readonly string[],
  options: { cwd: string; node?: string; script?: string; env?: Record<string, string> },
): Promise<Outcome> {
  const { cwd, node = process.execPath, script = join(root, "create-bot.js"), env } = options;
  return new Promise((resolve) => {
    const settings = { cwd, env: { ...process.env, ...env } };
    execFile(node, [script, ...argv], settings, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
    });
  });
}

const olderNode = nodeOlderThanBots();

const offline = ["--no-install", "--no-git", "--service-bot", "file:x"];

describe("node create-bot.js", () => {
  test("makes a bot", async () => {
    const cwd = await temporaryDirectory();
    const { code, out, err } = await create(["My Bot!", ...offline], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("cd 'My Bot!'");
    expect(await everythingIn(join(cwd, "My Bot!"))).toContain("src/main.ts");
  });
});

describe.skipIf(olderNode === undefined)("on a Node that is too old for bots", () => {
  test("it still works, and the bot installs a newer Node", async () => {
    const cwd = await temporaryDirectory();
    const { code, out, err } = await create(["bot", ...offline], { cwd, node: olderNode ?? "" });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("is older than 22.18");
    expect(out).toContain("devDependency");
  });

  test("the exit code comes through", async () => {
    const cwd = await temporaryDirectory();
    const { code } = await create(["--frobnicate"], { cwd, node: olderNode ?? "" });
    expect(code).toBe(2);
  });

  test("a fresh clone whose npm ci fails prints what to do", () =>
    expectNpmCiFails(["bot", ...offline, "--json"], olderNode));
});

describe("a fresh clone, without node_modules", () => {
  test("needs none when --service-bot names the dependency", async () => {
    const cwd = await temporaryDirectory();
    const script = await freshClone(join(cwd, "clone"));
    const env = await failingNpm(join(cwd, "bin"));
    const { code, err } = await create(["bot", ...offline], { cwd, script, env });
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });

  test("runs npm ci before it packs itself, and names the remedy when that fails", () =>
    expectNpmCiFails(["bot", "--no-install", "--json"]));
});

test("a bundle beside create-bot.js is what runs, as in the published package", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "dist"));
  await cp(join(root, "create-bot.js"), join(cwd, "create-bot.js"));
  await writeFile(join(cwd, "package.json"), '{ "type": "module" }');
  const bundle = "export const main = (argv, { origin }) => (console.log(argv[0], origin), 7);";
  await writeFile(join(cwd, "dist/create.js"), bundle);
  const script = join(cwd, "create-bot.js");
  expect(await create(["bot"], { cwd, script })).toEqual({
    code: 7,
    out: "bot registry\n",
    err: "",
  });
});

/**
 * Runs create-bot.js from a fresh clone without a network. Expects exit code 1, a remedy, one JSON document, and no
 * bot.
 */
async function expectNpmCiFails(argv: readonly string[], node?: string): Promise<void> {
  const cwd = await temporaryDirectory();
  const script = await freshClone(join(cwd, "clone"));
  const env = await failingNpm(join(cwd, "bin"));
  const setup = { cwd, script, env, ...(node === undefined ? {} : { node }) };
  const { code, out, err } = await create(argv, setup);
  expect(code).toBe(1);
  expect(err).toContain("npm ci in the checkout");
  expect(err).toContain("Run `npm ci` there");
  expect(JSON.parse(out)).toEqual({ error: { message: expect.any(String), conflicts: [] } });
  expect(await everythingIn(cwd)).not.toContain("bot");
}

/** @returns path of the clone's create-bot.js */
async function freshClone(clone: string): Promise<string> {
  for (const path of [
    "create-bot.js",
    "package.json",
    "src/core",
    relative(root, ERRORS_SOURCE),
    "src/create",
    "templates",
    "scripts",
  ]) {
    // The release check runs this test in a checkout with a node_modules folder, which a fresh clone does not have.
    const filter = (source: string) => !source.includes("node_modules");
    await cp(join(root, path), join(clone, path), { recursive: true, filter });
  }
  return join(clone, "create-bot.js");
}

async function failingNpm(bin: string): Promise<Record<string, string>> {
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "npm"), "#!/bin/sh\necho no network >&2\nexit 1\n");
  await chmod(join(bin, "npm"), 0o755);
  return { PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
}
