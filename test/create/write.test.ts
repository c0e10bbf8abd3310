import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CreateError, inWords, writeFiles } from "../faces/create.ts";
import { type Call, everythingIn, root, scaffold, temporaryDirectory } from "./harness.ts";

const filesAt = (...paths: string[]) => paths.map((path) => ({ path, content: "new" }));

function messageOf(work: () => void): string {
  try {
    work();
  } catch (error) {
    if (error instanceof CreateError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}

// Something may change the target right after the scaffolder has checked it.
describe("a target that has changed since the look at it", () => {
  test("a file that appeared is not overwritten, and what was written is taken back", async () => {
    const directory = await temporaryDirectory();
    await writeFile(join(directory, "b"), "mine");
    expect(messageOf(() => writeFiles(directory, filesAt("a", "b", "c")))).toBe(
      "Another program created b in the meantime. All written files were removed.",
    );
    expect(await readFile(join(directory, "b"), "utf8")).toBe("mine");
    expect(await everythingIn(directory)).toEqual(["b"]);
  });

  test("a link out of it is not followed", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "outside"));
    await mkdir(join(directory, "bot"));
    await symlink("../outside", join(directory, "bot/src"));
    const message = messageOf(() => writeFiles(join(directory, "bot"), filesAt("src/main.ts")));
    expect(message).toContain("would be outside");
    expect(await everythingIn(join(directory, "outside"))).toEqual([]);
  });

  test("a link in place of a file is not written through", async () => {
    const directory = await temporaryDirectory();
    await symlink("outside", join(directory, ".env"));
    const files = [{ path: ".env", content: "secret", mode: 0o600 }];
    messageOf(() => writeFiles(directory, files));
    expect(await everythingIn(directory)).toEqual([".env"]);
  });
});

describe("an error of the disk halfway", () => {
  const tooLong = "x".repeat(300);

  test("deletes every file and directory that it created, and nothing else", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "bot/src"), { recursive: true });
    await writeFile(join(directory, "bot/src/own.ts"), "mine");
    const files = filesAt("src/a.ts", "src/deep/er/b.ts", "test/c.ts", tooLong);
    expect(messageOf(() => writeFiles(join(directory, "bot"), files))).toBe(
      `Cannot write ${tooLong}: the path is too long (ENAMETOOLONG). All written files were removed. ` +
        "Choose a shorter path.",
    );
    expect(await everythingIn(directory)).toEqual(["bot", "bot/src", "bot/src/own.ts"]);
  });

  test("takes back the target and those above it, when they were not there", async () => {
    const directory = await temporaryDirectory();
    messageOf(() => writeFiles(join(directory, "deep/er/bot"), filesAt("a", tooLong)));
    expect(await everythingIn(directory)).toEqual([]);
    // Positive control: without the error, the files are there.
    writeFiles(join(directory, "deep/er/bot"), filesAt("a"));
    expect(await everythingIn(directory)).toContain("deep/er/bot/a");
  });

  test.each([
    ["ENOENT", "the directory does not exist (ENOENT). After. Choose another directory."],
    ["ENOSPC", "the disk is full (ENOSPC). After. Free some space, then run the command again."],
    ["EROFS", "the file system is read-only (EROFS). After. Choose a directory on another disk."],
    ["EACCES", "permission denied (EACCES). After. Choose another directory, or change its"],
    ["EWHAT", "words of Node (EWHAT). After. Fix the problem, then run the command again."],
  ])("%s is reported with its remedy", (code, words) => {
    const error = Object.assign(new Error("words of Node"), { code });
    expect(inWords(error, "x", "After.").message).toContain(`x: ${words}`);
  });
});

describe.skipIf(process.platform !== "linux")("a directory that cannot be made", () => {
  test("is reported with its remedy before this checkout is packed, which takes time", async () => {
    const cwd = await temporaryDirectory();
    const origin = { root, origin: "checkout" as const };
    const { code, err, calls } = await scaffold(["/proc/none/bot"], { cwd, origin });
    expect({ code, calls }).toEqual({ code: 1, calls: [] });
    // For this path, root gets a different error than other users.
    expect(err).toMatch(/^✖ [^\n]*\/proc[^\n]*\. Choose another directory[^\n]*\.\n$/);
    expect(err).not.toContain("mkdir");
  });

  test("and one that can be made is gone again while it is packed", async () => {
    const cwd = await temporaryDirectory();
    const seen: string[][] = [];
    const run = async ({ args }: Call) => {
      seen.push(await everythingIn(cwd));
      return { code: args[0]?.endsWith("pack.ts") ? 1 : 0 };
    };
    const origin = { root, origin: "checkout" as const };
    expect((await scaffold(["deep/bot"], { cwd, origin, run })).code).toBe(1);
    expect(seen).toEqual([[]]);
    expect(await everythingIn(cwd)).toEqual([]);
  });
});

test("with --json an error of the disk is one JSON document too", async () => {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, "templates"));
  await writeFile(join(cwd, "package.json"), '{ "version": "1.0.0" }');
  const origin = { root: cwd, origin: "registry" as const };
  const { code, out } = await scaffold(["bot", "--json"], { cwd, origin });
  expect(code).toBe(1);
  expect(JSON.parse(out).error.message).not.toBe("");
});
