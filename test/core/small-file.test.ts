import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSmallFile } from "../faces/core.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a file of up to 1 MiB is read, and a larger one refused", () => {
  const file = join(temporaryFolder(), "a");
  writeFileSync(file, "é".repeat(512 * 1024));
  expect(readSmallFile(file)).toHaveLength(512 * 1024);
  writeFileSync(file, "é".repeat(512 * 1024 + 1));
  expect(() => readSmallFile(file)).toThrow(/a has more than 1048576 bytes/);
  writeFileSync(file, "");
  expect(readSmallFile(file)).toBe("");
});

test.skipIf(process.platform === "win32")(
  "a device that never ends is refused, and a pipe is read",
  () => {
    const folder = temporaryFolder();
    symlinkSync("/dev/zero", join(folder, "zero"));
    expect(() => readSmallFile(join(folder, "zero"))).toThrow(RangeError);
    execFileSync("mkfifo", [join(folder, "pipe")]);
    execFileSync("sh", ["-c", "echo A=1 > pipe &"], { cwd: folder, stdio: "ignore" });
    expect(readSmallFile(join(folder, "pipe"))).toBe("A=1\n");
  },
);

test("a missing file is the file system's error", () => {
  expect(() => readSmallFile(join(temporaryFolder(), "b"))).toThrow(/ENOENT/);
});
