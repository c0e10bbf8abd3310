import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { everythingIn, scaffold, temporaryDirectory } from "./harness.ts";

describe("exit code 2, and nothing is written", () => {
  test.each([
    [[], "where the bot shall go"],
    [[""], "where the bot shall go"],
    [["my", "bot"], '"my bot"'],
    [["bot", "--frobnicate"], "'--frobnicate'"],
    [["bot", "-x"], "'-x'"],
    [["bot", "--template", "huge"], "starter"],
    [["bot", "--template", "tiny"], "There is: starter, minimal"],
    [["bot", "--template"], "--template"],
    [["bot", "--template="], "starter"],
    [["bot", "--store", "postgres"], "There is: sqlite"],
    [["bot", "--store", "mysql"], "sqlite"],
    [["bot", "--pm", "pip"], "npm, pnpm, yarn, bun"],
    [["bot", "--no-git=yes"], "--no-git"],
    [["bot", "--service-bot", ""], "--service-bot"],
    [["bot", "--service-bot", "^1.0.0\n"], "--service-bot"],
    [["con"], "Windows"],
    [["some/where/service-bot"], "taken"],
    [["!!!"], "No package name"],
    [["a\nb"], "control character"],
  ])("%j", async (argv, reason) => {
    const cwd = await temporaryDirectory();
    const { code, out, err, calls } = await scaffold(argv, { cwd });
    expect(code).toBe(2);
    expect(err).toContain(reason);
    expect(out).toBe("");
    expect(calls).toEqual([]);
    expect(await everythingIn(cwd)).toEqual([]);
  });

  test("every file that would be overwritten is listed, and each stays as it was", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot/src"), { recursive: true });
    await writeFile(join(cwd, "bot/package.json"), "mine");
    await writeFile(join(cwd, "bot/src/bot.ts"), "mine too");
    await writeFile(join(cwd, "bot/notes.txt"), "notes");
    const before = await everythingIn(cwd);
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain("package.json");
    expect(err).toContain("src/bot.ts");
    expect(err).not.toContain("notes.txt");
    expect(err).not.toContain("README.md");
    expect(await everythingIn(cwd)).toEqual(before);
    expect(await readFile(join(cwd, "bot/package.json"), "utf8")).toBe("mine");
  });

  test("an install that would rewrite a lock file or empty node_modules is refused", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot/node_modules/x"), { recursive: true });
    await writeFile(join(cwd, "bot/package-lock.json"), "{}");
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain("node_modules");
    expect(err).toContain("package-lock.json");
    expect((await scaffold(["bot", "--no-install"], { cwd })).code).toBe(0);
  });

  test("a file in place of the directory", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "bot"), "a file");
    for (const dir of ["bot", "bot/below"]) {
      const { code, err } = await scaffold([dir], { cwd });
      expect(code).toBe(2);
      expect(err).toContain("is not a directory");
    }
    expect(await readFile(join(cwd, "bot"), "utf8")).toBe("a file");
  });

  test("a file where the bot needs a directory", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot"));
    await writeFile(join(cwd, "bot/src"), "a file");
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain("src  (is not a directory)");
    expect(await everythingIn(cwd)).toEqual(["bot", "bot/src"]);
  });
});

describe("links", () => {
  test("a directory of the bot that is a link to elsewhere is refused", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "elsewhere"));
    await mkdir(join(cwd, "bot"));
    await symlink(join(cwd, "elsewhere"), join(cwd, "bot/src"));
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain("src  (leads out of the directory)");
    expect(await everythingIn(cwd)).toEqual(["bot", "bot/src", "elsewhere"]);
  });

  test("a link to a sibling whose name begins alike leads out as well", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot-2"));
    await mkdir(join(cwd, "bot"));
    await symlink("../bot-2", join(cwd, "bot/test"));
    expect((await scaffold(["bot"], { cwd })).code).toBe(2);
    expect(await everythingIn(join(cwd, "bot-2"))).toEqual([]);
  });

  test("a file of the bot that is a link, even one to nowhere, counts as being there", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "bot"));
    await symlink(join(cwd, "secrets"), join(cwd, "bot/.env"));
    const { code, err } = await scaffold(["bot"], { cwd });
    expect(code).toBe(2);
    expect(err).toContain(".env");
    expect(await everythingIn(cwd)).toEqual(["bot", "bot/.env"]);
  });

  test("a link to nowhere in place of the directory is refused", async () => {
    const cwd = await temporaryDirectory();
    await symlink(join(cwd, "nowhere"), join(cwd, "bot"));
    expect((await scaffold(["bot"], { cwd })).code).toBe(2);
    expect(await everythingIn(cwd)).toEqual(["bot"]);
  });

  test("the directory itself may be a link, and links that stay inside are followed", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "real/code"), { recursive: true });
    await symlink("real", join(cwd, "bot"));
    await symlink("code", join(cwd, "real/src"));
    expect((await scaffold(["bot", "--no-git"], { cwd })).code).toBe(0);
    expect(await everythingIn(join(cwd, "real/code"))).toContain("bot.ts");
  });
});
