import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageManagerFacts, packageManagers } from "../faces/create.ts";
import { type Setup, scaffold, temporaryDirectory } from "./harness.ts";

async function made(packageManager: string, setup: Omit<Setup, "cwd"> = {}) {
  const cwd = await temporaryDirectory();
  const outcome = await scaffold(["bot", "--pm", packageManager, "--no-git"], { cwd, ...setup });
  expect(outcome.code, outcome.err).toBe(0);
  const read = (path: string) => readFile(join(cwd, "bot", path), "utf8");
  return { ...outcome, read };
}

function commandsOf(text: string, prefix: RegExp): string[] {
  const lines = text.split("\n").filter((line) => prefix.test(line));
  return lines.flatMap((line) =>
    line
      .replace(prefix, "")
      .split(/ && |; (?:then|else)? ?/)
      .map((command) => command.replace(/^if /, ""))
      .filter((command) => !/^(?:fi|\[)/.test(command)),
  );
}

function strangers(commands: readonly string[]): string[] {
  const known = new Set(["npm", "npx", "node", "mkdir", "chown", "chmod", "cp", "find", "useradd"]);
  return commands.filter((command) => {
    const [, added] =
      /^npm install --global (?:--\S+ )*(?:@yarnpkg\/cli-dist|(\w+))@\d+$/.exec(command) ?? [];
    if (command.startsWith("npm install --global")) known.add(added ?? "yarn");
    return !known.has(command.split(" ")[0] ?? "");
  });
}

describe.each(packageManagers)("on a machine with Node and npm alone, a bot of %s", (name) => {
  test("installs exactly what its lock file says in CI, with a pinned program that is there", async () => {
    const { read } = await made(name);
    const commands = commandsOf(await read(".github/workflows/ci.yml"), /^ +- run: /);
    expect(strangers(commands)).toEqual([]);
    expect(commands.at(-3)).toMatch(/^npm ci$|^\w+ install --(?:frozen-lockfile|immutable)$/);
    expect(commands.slice(-2).every((command) => command.startsWith(`${name} `))).toBe(true);
    // Positive control: without the line that installs them, the check must find missing programs.
    const first = name === "npm" ? 0 : 1;
    expect(strangers(commands.slice(first))).toHaveLength(first * 3);
  });

  test("is built into an image in the same way, from its own lock file", async () => {
    const { read } = await made(name);
    const text = await read("Dockerfile");
    expect(strangers(commandsOf(text, /^RUN /))).toEqual([]);
    expect(text).toContain(`\nCOPY package.json ${packageManagerFacts[name].lockFile}*`);
    expect(text).toContain(
      `if [ -f ${packageManagerFacts[name].lockFile} ]; then ${packageManagerFacts[name].toolchain(4).production};`,
    );
    const { ci } = packageManagerFacts[name].toolchain(packageManagerFacts[name].newestMajor);
    expect(text).toContain(`then ${ci}; else ${name} install; fi`);
    expect(text).toContain(`\nRUN cp -R src dist && ${name} run build\n`);
    if (name !== "npm") expect(text).not.toMatch(/npm ci|package-lock/);
    // The files that COPY names must exist.
    const copied = /^COPY package\.json (.*) \.\/$/m.exec(text)?.[1]?.split(" ") ?? [];
    for (const path of copied.filter((file) => !file.endsWith("*"))) await read(path);
  });
});

test("what yarn keeps beside node_modules is not for the repository, and Dependabot knows bun by its name", async () => {
  const [yarn, bun, npm] = [await made("yarn"), await made("bun"), await made("npm")];
  expect(await yarn.read(".gitignore")).toContain("\n.yarn/\n");
  expect(await npm.read(".gitignore")).not.toContain("yarn");
  expect(await bun.read(".github/dependabot.yml")).toContain("- package-ecosystem: bun\n");
  expect(await yarn.read(".github/dependabot.yml")).toContain("- package-ecosystem: npm\n");
});

describe("the major version that is pinned is the one that writes the lock file", () => {
  const workflow = ".github/workflows/ci.yml";

  test("by what has started the scaffolder", async () => {
    const env = { npm_config_user_agent: "yarn/1.22.22 npm/? node/v24.0.0 linux x64" };
    const { read, calls } = await made("yarn", { env });
    expect(calls).toHaveLength(1);
    expect(await read(workflow)).toContain("yarn@1\n      - run: yarn install --frozen-lockfile\n");
  });

  test("otherwise by the reason in the package manager's output, after any other line", async () => {
    const run = () => ({ output: "! Corepack is about to download it\n9.15.9\n" });
    const { read, calls } = await made("pnpm", { run });
    expect(calls.map(({ args }) => args[0])).toEqual(["--version", "install"]);
    expect(await read(workflow)).toContain("npm install --global pnpm@9\n");
    // With this file, pnpm 9 assumes a workspace, and fails because `packages` is missing.
    await expect(read("pnpm-workspace.yaml")).rejects.toThrow("ENOENT");
  });

  test("where it says nothing, and with --no-install, a recent one", async () => {
    const { read } = await made("yarn", {
      run: ({ args }) => (args[0] === "--version" ? { code: 1 } : {}),
    });
    expect(await read(workflow)).toContain(
      "@yarnpkg/cli-dist@4\n      - run: yarn install --immutable\n",
    );
    const cwd = await temporaryDirectory();
    const { calls } = await scaffold(["bot", "--pm", "pnpm", "--no-install", "--no-git"], { cwd });
    expect(calls).toEqual([]);
  });

  test("Ctrl-C at that ends the run before anything is written", async () => {
    const cwd = await temporaryDirectory();
    const run = () => ({ code: undefined, interrupted: true });
    const { code, err } = await scaffold(["bot", "--pm", "bun"], { cwd, run });
    expect({ code, err }).toEqual({ code: 130, err: "✖ Cancelled. Nothing was written.\n" });
  });
});
