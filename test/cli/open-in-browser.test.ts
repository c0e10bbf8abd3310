import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openInBrowser } from "../faces/cli.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const URL = "http://127.0.0.1:4400/#token=a-b_c";

function opener(name: string, code = 0): { folder: string; asked: () => string } {
  const folder = temporaryFolder();
  const file = join(folder, name);
  const log = join(folder, "log");
  writeFileSync(file, `#!/bin/sh\nprintf '%s|' "$@" > '${log}'\nexit ${code}\n`);
  chmodSync(file, 0o755);
  return { folder, asked: () => (existsSync(log) ? readFileSync(log, "utf8") : "") };
}

test.each([
  ["linux", "xdg-open", `${URL}|`],
  ["freebsd", "xdg-open", `${URL}|`],
  ["darwin", "open", `${URL}|`],
  ["win32", "cmd", `/c|start||${URL}|`],
] as const)("on %s the address is opened with %s", async (system, name, asked) => {
  const fake = opener(name);
  expect(await openInBrowser(URL, system, { PATH: fake.folder })).toBe(true);
  expect(fake.asked()).toBe(asked);
});

test("an opener that fails, or is not there, is reported", async () => {
  const { folder } = opener("xdg-open", 3);
  expect(await openInBrowser(URL, "linux", { PATH: folder })).toBe(false);
  expect(await openInBrowser(URL, "linux", { PATH: temporaryFolder() })).toBe(false);
});
