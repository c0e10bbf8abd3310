import { expect, test } from "vitest";
import { UNTIL_SIGNAL_MODULE } from "../faces/files.ts";
import { TestProcess } from "../support/process.ts";

/** Runs a command that waits for a signal, and then does this. */
function runCommand(afterwards: string): TestProcess {
  const code = `
    import { untilSignal } from ${JSON.stringify(UNTIL_SIGNAL_MODULE)};
    const stopped = untilSignal();
    const alive = setInterval(() => undefined, 1_000);
    console.log("started");
    ${afterwards}`;
  return new TestProcess(["--input-type=module", "--eval", code]);
}

test("a second Ctrl+C ends what the first one has begun to stop", async () => {
  const slow = runCommand(`await stopped; console.log("stopping");`);
  await slow.line((line) => line === "started");
  slow.kill("SIGINT");
  await slow.line((line) => line === "stopping");
  const again = setInterval(() => slow.kill("SIGINT"), 20);
  expect(await slow.exited).toEqual({ code: 1, signal: null });
  clearInterval(again);
});

test("a Ctrl+C that npm passes on as well is one", async () => {
  const quick = runCommand(`
    process.emit("SIGINT");
    process.emit("SIGINT");
    await stopped;
    clearInterval(alive);
    console.log("stopped");`);
  expect(await quick.exited).toEqual({ code: 0, signal: null });
  expect(quick.stdout).toEqual(["started", "stopped"]);
});
