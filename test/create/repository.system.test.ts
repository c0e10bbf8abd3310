import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { run, templates } from "../faces/create.ts";
import { type Call, scaffold, temporaryDirectory } from "./harness.ts";

function gitEnv(home: string, user?: string): Record<string, string> {
  const identity = { GIT_AUTHOR_NAME: user, GIT_AUTHOR_EMAIL: user };
  const committer = { GIT_COMMITTER_NAME: user, GIT_COMMITTER_EMAIL: user };
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    ...(user === undefined ? {} : ({ ...identity, ...committer } as Record<string, string>)),
  };
}

/** Runs git for real. Other programs do nothing. */
const realGit = ({ command, args, ...options }: Call) =>
  command === "git" ? run(command, args, options) : {};

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { output } = await run("git", args, { cwd, env: gitEnv(cwd) });
  return output;
}

async function make(argv: readonly string[], env: Record<string, string>, cwd: string) {
  return await scaffold(["bot", "--no-install", ...argv], { cwd, env, run: realGit });
}

test.each(templates)("git ignores backups, dumps and exports: %s", async (template) => {
  const cwd = await temporaryDirectory();
  await make(["--template", template], gitEnv(cwd, "ada@example.org"), cwd);
  // The file names in docs/operate/backup.md, docs/operate/overview.md and docs/reference/command-line.md.
  const names = [
    ...["2026-03-01.db", "2026-03-01.db.part-1", "bot.db.before-20260301T093000", "bot.db-wal"],
    ...["bot.dump", "inbox.jsonl", "letters.jsonl"],
  ];
  const ignored = await git(join(cwd, "bot"), "check-ignore", ...names);
  expect(ignored.trim().split("\n")).toEqual(names);
});

describe("a repository of its own", () => {
  test("it begins with one commit of every file but .env", async () => {
    const cwd = await temporaryDirectory();
    const { code, out } = await make([], gitEnv(cwd, "ada@example.org"), cwd);
    expect(code).toBe(0);
    expect(out).toContain("git init, first commit");
    const committed = (await git(join(cwd, "bot"), "ls-files")).trim().split("\n");
    expect(committed).toContain("package.json");
    expect(committed).toContain(".github/workflows/ci.yml");
    expect(committed).not.toContain(".env");
    expect(await git(join(cwd, "bot"), "status", "--short")).toBe("");
    expect(await git(join(cwd, "bot"), "check-ignore", ".env")).toBe(".env\n");
    expect(await git(join(cwd, "bot"), "log", "--format=%s")).toBe(
      "Start from service-bot's starter template\n",
    );
  });

  test("what lay in the directory before is left for its owner to commit", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot"));
    await writeFile(join(cwd, "bot/diary.txt"), "private");
    await make([], gitEnv(cwd, "ada@example.org"), cwd);
    expect(await git(join(cwd, "bot"), "status", "--short")).toBe("?? diary.txt\n");
  });

  test("a packed service-bot is committed even where archives are ignored", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "ignore"), "*.tgz\n");
    await writeFile(join(cwd, ".gitconfig"), `[core]\n\texcludesFile = ${cwd}/ignore\n`);
    const checkout = join(cwd, "checkout");
    const { origin, packs } = await fakeCheckout(checkout);
    await scaffold(["bot", "--no-install"], {
      cwd,
      origin,
      env: gitEnv(cwd, "ada@example.org"),
      run: (call) => (call.command === "git" ? realGit(call) : packs(call)),
    });
    expect(await git(join(cwd, "bot"), "ls-files", "vendor")).toBe(
      "vendor/service-bot-7.8.9.tgz\n",
    );
  });

  test("without a user to commit as, the files are staged and the run is a success", async () => {
    const cwd = await temporaryDirectory();
    const { code, out } = await make([], gitEnv(cwd), cwd);
    expect(code).toBe(0);
    expect(out).toContain("no commit");
    expect(await git(join(cwd, "bot"), "diff", "--cached", "--name-only")).toContain(
      "package.json",
    );
  });
});

async function fakeCheckout(root: string) {
  await mkdir(join(root, "templates/starter"), { recursive: true });
  await writeFile(join(root, "package.json"), '{ "version": "7.8.9" }');
  await writeFile(join(root, "templates/starter/_package.json"), "{}");
  await writeFile(
    join(root, "templates/starter/_env.example"),
    "SERVICE_API_KEY=\nSERVICE_WEBHOOK_SECRET=\n",
  );
  return {
    origin: { root, origin: "checkout" as const },
    packs: async ({ args }: Call) => {
      await writeFile(join(args.at(-1) ?? "", "service-bot-7.8.9.tgz"), "");
      return {};
    },
  };
}
