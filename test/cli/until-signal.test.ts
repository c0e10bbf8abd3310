import { expect, test } from "vitest";
import { untilSignal } from "../faces/cli.ts";
import { FakeProcess } from "../support/fake-process.ts";

test("a second Ctrl+C ends what the first one has begun to stop", async () => {
  const process = new FakeProcess();
  let now = 0;
  const stopped = untilSignal(process, () => now);
  process.emit("SIGINT");
  await stopped;
  expect(process.codes).toEqual([]);
  now = 101;
  process.emit("SIGINT");
  expect(process.codes).toEqual([1]);
});

test("a Ctrl+C that npm passes on as well is one", async () => {
  const process = new FakeProcess();
  let now = 0;
  const stopped = untilSignal(process, () => now);
  process.emit("SIGINT");
  now = 100;
  process.emit("SIGINT");
  await stopped;
  expect(process.codes).toEqual([]);
});
