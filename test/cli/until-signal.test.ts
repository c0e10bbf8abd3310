import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { TestProcess } from "../support/process.ts";

const MODULE = fileURLToPath(new URL("../../src/cli/until-signal.ts", import.meta.url));

/** A command whose end takes for ever. */
const SLOW = `
  import { untilSignal } from ${JSON.stringify(MODULE)};
  const stopped = untilSignal();
  setInterval(() => undefined, 1_000);
  console.log("started");
  await stopped;
  console.log("stopping");
`;

test("a second Ctrl+C ends what the first one has begun to stop", async () => {
  const slow = new TestProcess(["--input-type=module", "--eval", SLOW]);
  await slow.line((line) => line === "started");
  slow.kill("SIGINT");
  await slow.line((line) => line === "stopping");
  slow.kill("SIGINT");
  expect(await slow.exited).toEqual({ code: 1, signal: null });
});
