import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listenUntilEnd } from "../support/listen.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { runCommand } from "./command.ts";

test("dev does not replace a port that the user chose", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "main.ts"), "");
  const taken = await listenUntilEnd(createServer((_, response) => response.end("{}")));
  const { port } = new URL(taken.url);
  const options = { cwd: folder, env: { PORT: port } };
  const byVariable = await runCommand(["dev", "--entry", "main.ts", "--port", "0"], options);
  expect(byVariable).toMatchObject({
    code: 1,
    err: expect.stringContaining(`port ${port} (PORT)`),
  });
  const flags = ["dev", "--entry", "main.ts", "--port", port];
  const byFlag = await runCommand(flags, { cwd: folder });
  expect(byFlag).toMatchObject({
    code: 1,
    err: expect.stringContaining(`port ${port}`),
  });
});

test("dev in a folder without a bot explains where to run it", async () => {
  const { code, err } = await runCommand(["dev"], { cwd: temporaryFolder() });
  expect(code).toBe(1);
  expect(err).toContain("src/main.ts");
  expect(err).toContain("--entry");
});
