import { join } from "node:path";
import { expect, test } from "vitest";
import { asShown, lastingLines } from "../../scripts/tour/page.ts";
import { run } from "../../src/create/run.ts";
import { root } from "../create/harness.ts";
import { hasPty } from "../support/at-terminal.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../support/scaffolded.ts";

test.skipIf(!hasPty)(
  "docs/tour.md is what a newcomer sees",
  { timeout: SCAFFOLD_TIMEOUT_MS },
  async () => {
    const argv = [join(root, "scripts/tour/main.ts"), "--check"];
    const { code, output } = await run(process.execPath, argv, { cwd: root, env: process.env });
    expect(code, output).toBe(0);
  },
);

test("what varies makes no difference, and a word does", () => {
  const page = (line: string) => [...lastingLines(line)];
  expect(page("14:02:11 <-- [200] 9 ms")).toEqual(page("08:00:00 <-- [200] 12 ms"));
  expect(page("14:02:11 <-- [200] 9 ms")).not.toEqual(page("14:02:11 <-- [503] 9 ms"));
  expect(page("✔ npm install   4.2 s")).toEqual(page("✔ npm install   11 s"));
  expect(page("service-bot 0.1.0")).toEqual(page("service-bot 1.12.0"));
  expect(page("at 127.0.0.1:3000")).not.toEqual(page("at 127.0.0.2:3000"));
});

test("a line that was written over is gone, and the ports are the usual ones", () => {
  const ports = new Map([[":24417", ":4400"]]);
  const printed = "$ npm run dev\n\n⠋ install  0 s\r✔ install\nat 127.0.0.1:24417\n";
  expect(asShown(printed, ports)).toBe("$ npm run dev\n✔ install\nat 127.0.0.1:4400\n");
});
