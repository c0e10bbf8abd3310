import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { templates } from "../faces/create.ts";
import { everythingIn, scaffold, temporaryDirectory } from "./harness.ts";

describe("a repository of its own", () => {
  test.each(templates)("its commit names the template %s", async (template) => {
    const cwd = await temporaryDirectory();
    const { calls } = await scaffold(["bot", "--no-install", "--template", template], { cwd });
    expect(calls.at(-1)).toMatchObject({
      command: "git",
      args: expect.arrayContaining(["commit", `Start from service-bot's ${template} template`]),
    });
  });

  test("git gets none of the variables by which a hook points it elsewhere", async () => {
    const cwd = await temporaryDirectory();
    const names = ["DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "PREFIX"];
    const places = [...names, "NAMESPACE"].map((name) => `GIT_${name}`);
    const hook = Object.fromEntries(places.map((name) => [name, "elsewhere"]));
    const env = { ...hook, GIT_AUTHOR_NAME: "ada" };
    const { calls } = await scaffold(["bot", "--no-install"], { cwd, env });
    expect(calls.map(({ command }) => command)).toEqual(["git", "git", "git"]);
    for (const call of calls) {
      expect(call.env).toMatchObject({ GIT_AUTHOR_NAME: "ada" });
      expect(Object.keys(call.env).filter((name) => places.includes(name))).toEqual([]);
    }
  });
});

describe("no repository is started", () => {
  test("inside of another one, however deep", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, ".git"));
    const outcome = await scaffold(["a/b/bot", "--no-install"], { cwd });
    expect(outcome.code).toBe(0);
    expect(outcome.calls).toEqual([]);
    expect(outcome.out).toContain("already in a repository");
    expect(await everythingIn(join(cwd, "a/b/bot"))).not.toContain(".git");
  });

  test("in a work tree whose .git is a file", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, ".git"), "gitdir: elsewhere\n");
    expect((await scaffold(["bot", "--no-install"], { cwd })).calls).toEqual([]);
  });

  test("with --no-git", async () => {
    const cwd = await temporaryDirectory();
    const { calls, code } = await scaffold(["bot", "--no-git", "--no-install"], { cwd });
    expect({ code, calls }).toEqual({ code: 0, calls: [] });
  });

  test("where there is no git, and the run is a success all the same", async () => {
    const cwd = await temporaryDirectory();
    const run = () => ({ code: undefined, missing: true });
    const { code, out } = await scaffold(["bot", "--no-install"], { cwd, run });
    expect(code).toBe(0);
    expect(out).toContain("git init failed");
  });
});
