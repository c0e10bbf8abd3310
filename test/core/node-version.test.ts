import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { OLDEST_NODE, requireNode } from "../faces/core.ts";

describe("Node", () => {
  test.each([
    "22.18.0",
    "22.18.1",
    "22.19.0",
    "23.0.0",
    "24.0.0",
    "24.21.0",
    "100.0.0",
    "24.0.0-nightly20260101",
  ])("%s is new enough", (version) => {
    expect(() => requireNode(version)).not.toThrow();
  });

  test.each(["22.17.9", "22.9.0", "20.19.0", "21.99.99", "18.0.0", "4.21.0", "0.12.18"])(
    "%s is too old, and the message says what to do",
    (version) => {
      const refusal = expect.objectContaining({
        code: "NODE_TOO_OLD",
        message: expect.stringMatching(/22\.18.*npm install --save-dev node@/s),
      });
      expect(() => requireNode(version)).toThrow(refusal);
      expect(() => requireNode(version)).toThrow(version);
    },
  );

  test("one without the newer functions of Node reaches the refusal of a start", async () => {
    const bot = new URL("../../src/index.ts", import.meta.url).href;
    const program = `
      process.getBuiltinModule = undefined;
      Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.11.1" } });
      const { Bot } = await import(${JSON.stringify(bot)});
      await new Bot({ env: {} }).start({ standalone: false }).catch(({ code }) => console.log(code));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...["--input-type=module", "--eval", program],
    ]);
    expect(stdout).toBe("NODE_TOO_OLD\n");
  });

  test("the oldest one is the one that package.json asks for", () => {
    const { engines }: { engines: { node: string } } = JSON.parse(
      readFileSync("package.json", "utf8"),
    );
    expect(`${engines.node}.0`).toBe(`>=${OLDEST_NODE}`);
  });
});
