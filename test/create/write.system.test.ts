import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ERRORS_SOURCE } from "../faces/files.ts";
import { everythingIn, root, temporaryDirectory } from "./harness.ts";

describe("a read-only directory", () => {
  // Root may write anywhere, so run the scaffolder as another user, in a folder that everyone can read.
  test("ends the run with 1 and the remedy, and nothing is written", async () => {
    const cwd = await temporaryDirectory();
    await chmod(cwd, 0o755);
    const sources = ["src/core", "src/create", relative(root, ERRORS_SOURCE)];
    for (const path of ["create-bot.js", "package.json", ...sources, "templates"]) {
      await cp(join(root, path), join(cwd, "clone", path), { recursive: true });
    }
    await mkdir(join(cwd, "closed"), { mode: 0o555 });
    await mkdir(join(cwd, "open"));
    await chmod(join(cwd, "open"), 0o777);
    const own = join(cwd, "node");
    await cp(process.execPath, own);
    const asSomebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const argv = ["bot", "--service-bot", "file:x", "--no-install", "--no-git"];
    const outcomes = ["closed", "open"].map((place) =>
      spawnSync(own, [join(cwd, "clone/create-bot.js"), ...argv], {
        cwd: join(cwd, place),
        encoding: "utf8",
        env: {},
        ...asSomebody,
      }),
    );
    expect(
      outcomes.map(({ status }) => status),
      outcomes[1]?.stderr,
    ).toEqual([1, 0]);
    expect(outcomes[0]?.stderr).toBe(
      `✖ Cannot write to ${join(cwd, "closed")}: permission denied (EACCES). ` +
        "Nothing was written. Choose another directory, or change its permissions.\n",
    );
    expect(await everythingIn(join(cwd, "closed"))).toEqual([]);
    expect(await everythingIn(join(cwd, "open"))).toContain("bot/src/main.ts");
  });
});
