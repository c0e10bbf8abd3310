import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packageManagers, templates } from "../faces/create.ts";
import { everythingIn, type Setup, scaffold, temporaryDirectory } from "./harness.ts";

async function make(argv: readonly string[], setup: Omit<Setup, "cwd"> = {}) {
  const cwd = await temporaryDirectory();
  return { cwd, ...(await scaffold(["bot", "--no-git", ...argv], { cwd, ...setup })) };
}

describe("the package manager", () => {
  test.each([
    ["npm/11.6.0 node/v24.0.0 linux x64 workspaces/false", "npm"],
    ["pnpm/10.1.0 npm/? node/v24.0.0 linux x64", "pnpm"],
    ["yarn/1.22.22 npm/? node/v24.0.0 linux x64", "yarn"],
    ["bun/1.2.0 npm/? node/v24.3.0 linux x64", "bun"],
    ["deno/2.0.0", "npm"],
    ["", "npm"],
  ])("%s installs with %s", async (agent, expected) => {
    const { calls, cwd } = await make([], { env: { npm_config_user_agent: agent } });
    expect(calls.map(({ command, args }) => [command, args[0]])).toEqual([[expected, "install"]]);
    expect(calls[0]?.cwd).toBe(join(cwd, "bot"));
  });

  test("--pm goes before the environment", async () => {
    const env = { npm_config_user_agent: "pnpm/10.1.0" };
    const { calls, out } = await make(["--pm", "bun"], { env });
    expect(calls[0]?.command).toBe("bun");
    expect(out).toContain("bun run dev");
    expect(out).toContain("bun run test");
  });

  test("each package manager has its own setting for allowed install scripts", async () => {
    const nodeVersion = "20.20.2";
    const pnpm = await make(["--pm", "pnpm"], { nodeVersion });
    const rules = await readFile(join(pnpm.cwd, "bot/pnpm-workspace.yaml"), "utf8");
    expect(rules).toContain("allowBuilds:\n  better-sqlite3: false\n  node: true\n");
    const bun = await make(["--pm", "bun"], { nodeVersion });
    const manifest = JSON.parse(await readFile(join(bun.cwd, "bot/package.json"), "utf8"));
    expect(manifest.trustedDependencies).toEqual(["node"]);
  });

  test("the texts of the bot speak of it", async () => {
    const { cwd } = await make(["--pm", "pnpm"]);
    const readme = await readFile(join(cwd, "bot/README.md"), "utf8");
    expect(readme).toContain("pnpm run dev");
    expect(readme).toContain("pnpm install");
    expect(readme).toContain("pnpm exec service-bot trigger");
    expect(readme).toContain("`pnpm add --save-dev node@24`");
    expect(await readFile(join(cwd, "bot/.env.example"), "utf8")).toContain('"pnpm add pg"');
  });

  test.each(templates.flatMap((template) => packageManagers.map((name) => [template, name])))(
    "the texts of the template %s speak of no other than %s",
    async (template = "", name = "") => {
      const others: readonly string[] = packageManagers.filter((other) => other !== name);
      const { cwd } = await make(["--pm", name, "--template", template]);
      for (const path of ["README.md", "AGENTS.md", ".env.example"]) {
        const text = await readFile(join(cwd, "bot", path), "utf8").catch(() => "");
        const commands = [...text.matchAll(/^(\w+) .*$|`(\w+) [^`]*`|"(\w+) add/gm)];
        const programs = commands.map(([, ...found]) => found.find(Boolean) ?? "");
        expect(programs.filter((program) => others.includes(program))).toEqual([]);
        if (name !== "npm") expect(text).not.toContain("npx ");
      }
    },
  );
});

test("--no-install runs nothing, and the next steps begin with the install", async () => {
  const { calls, out, code } = await make(["--no-install"]);
  expect(code).toBe(0);
  expect(calls).toEqual([]);
  expect(out).toMatch(/cd bot\n {2}npm install\n {2}npm run dev .*\n {2}npm test/);
});

test("after an install the next steps go without one", async () => {
  const { out } = await make([]);
  expect(out).toMatch(/cd bot\n {2}npm run dev/);
});

describe("an install that fails", () => {
  const output = `${"earlier line\n".repeat(100)}npm error code ENOTFOUND\n`;

  test("the exit code is 1, the files stay, and the output names the command to run", async () => {
    const { code, err, cwd } = await make([], { run: () => ({ code: 1, output }) });
    expect(code).toBe(1);
    expect(err).toContain("npm install failed");
    expect(err).toMatch(/cd bot\n {2}npm install\n {2}npm run dev/);
    expect(await everythingIn(join(cwd, "bot"))).toContain("src/main.ts");
  });

  test("its last lines are shown, not all of them", async () => {
    const { err } = await make([], { run: () => ({ code: 1, output }) });
    expect(err).toContain("npm error code ENOTFOUND");
    expect(err.match(/earlier line/g)?.length).toBeLessThan(30);
  });

  test("where in npm's own source it came up is not shown", async () => {
    const stack =
      "npm error code E404\nnpm error     at async main (/lib/cli.js:1:2)\nnpm error     at x\nnpm error 404\n";
    const { err } = await make([], { run: () => ({ code: 1, output: stack }) });
    expect(err).toContain("    npm error code E404\n    npm error 404\n");
    const room = `npm error code E404\n${"npm error     at x\n".repeat(30)}`;
    expect((await make([], { run: () => ({ code: 1, output: room }) })).err).toContain("E404");
  });

  test("what a successful install prints is not shown", async () => {
    const { out, err } = await make([], { run: () => ({ output: "added 100 packages" }) });
    expect(out + err).not.toContain("added 100 packages");
  });

  test("a package manager that is not there is named", async () => {
    const run = () => ({ code: undefined, missing: true, output: "spawn pnpm ENOENT" });
    const { code, err } = await make(["--pm", "pnpm"], { run });
    expect(code).toBe(1);
    expect(err).toContain(
      "pnpm is not installed. Install it, or choose another package manager with --pm.",
    );
  });

  test("an interrupted install exits with 130, and git is left for later", async () => {
    const run = () => ({ code: undefined, interrupted: true });
    const cwd = await temporaryDirectory();
    const { code, err, calls } = await scaffold(["bot"], { cwd, run });
    expect(code).toBe(130);
    expect(err).toMatch(
      /interrupted:\n.*\n.*The bot's files are written\. To continue, run:\n {2}cd bot\n/,
    );
    expect(calls.map(({ command }) => command)).toEqual(["npm"]);
  });

  test("--json says so too", async () => {
    const { code, out } = await make(["--json"], { run: () => ({ code: 1, output }) });
    expect(code).toBe(1);
    const result = JSON.parse(out);
    expect(result.installed).toBe(false);
    expect(result.error.message).toContain("ENOTFOUND");
    expect(result.next).toContain("npm install");
  });
});
