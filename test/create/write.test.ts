import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CreateError } from "../../src/create/errors.ts";
import { writeFiles } from "../../src/create/write.ts";
import { everythingIn, temporaryDirectory } from "./harness.ts";

// What the look at the target found can be out of date a moment later.

test("a file that appeared after the look is not overwritten", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "b"), "mine");
  const files = ["a", "b", "c"].map((path) => ({ path, content: "new" }));
  await expect(writeFiles(directory, files)).rejects.toThrow(CreateError);
  expect(await readFile(join(directory, "b"), "utf8")).toBe("mine");
  expect(await everythingIn(directory)).toEqual(["a", "b"]);
});

test("a link out of the target that appeared after the look is not followed", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "outside"));
  await mkdir(join(directory, "bot"));
  await symlink("../outside", join(directory, "bot/src"));
  const files = [{ path: "src/main.ts", content: "new" }];
  await expect(writeFiles(join(directory, "bot"), files)).rejects.toThrow(CreateError);
  expect(await everythingIn(join(directory, "outside"))).toEqual([]);
});

test("a link in place of a file is not written through", async () => {
  const directory = await temporaryDirectory();
  await symlink("outside", join(directory, ".env"));
  const files = [{ path: ".env", content: "secret", mode: 0o600 }];
  await expect(writeFiles(directory, files)).rejects.toThrow(CreateError);
  expect(await everythingIn(directory)).toEqual([".env"]);
});
