import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createLogger, deferred, LineWriter } from "../faces/core.ts";

function writer() {
  const calls: string[] = [];
  const lines = new LineWriter({ write: (text) => void calls.push(text) });
  const log = createLogger({ level: "info", secrets: [], destination: lines });
  return { calls, log, later: deferred(log) };
}

const messagesIn = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).msg);

test("lines of one turn that may wait share a write call", async () => {
  const { calls, later } = writer();
  later.info("one");
  later.info("two");
  expect(calls).toEqual([]);
  await new Promise(setImmediate);
  expect(calls.map(messagesIn)).toEqual([["one", "two"]]);
  later.info("three");
  await new Promise(setImmediate);
  expect(calls.map(messagesIn)).toEqual([["one", "two"], ["three"]]);
});

test("a line that may not wait is written at once, after those that wait", async () => {
  const { calls, log, later } = writer();
  later.info("one");
  log.child({ event: "evt_1" }).info("two");
  expect(calls.map(messagesIn)).toEqual([["one", "two"]]);
  await new Promise(setImmediate);
  expect(calls).toHaveLength(1);
});

test("the logger's flush writes the lines that wait, and calls back", async () => {
  const { calls, log, later } = writer();
  later.info("one");
  await promisify(log.flush).call(log);
  expect(calls.map(messagesIn)).toEqual([["one"]]);
});

test("lines that may wait have the logger's fields and level", () => {
  const { calls, log } = writer();
  const named = log.child({ bot: "pim" });
  const later = deferred(named);
  later.info("shown");
  named.level = "warn";
  later.info("hidden");
  log.info("end");
  expect(calls.join("")).toContain('"bot":"pim","msg":"shown"');
  expect(messagesIn(calls.join(""))).toEqual(["shown", "end"]);
});

test("lines of another destination never wait", () => {
  const calls: string[] = [];
  const destination = { write: (text: string) => void calls.push(text) };
  deferred(createLogger({ level: "info", secrets: [], destination })).info("one");
  expect(calls).toHaveLength(1);
});

test("a process writes its last lines before it exits", async () => {
  const program = `
    const { createLogger, deferred } = await import(${JSON.stringify(faces)});
    deferred(createLogger({ level: "info", secrets: [] })).info("last");
    process.exit();
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", program]);
  expect(messagesIn(stdout)).toEqual(["last"]);
});

const faces = new URL("../faces/core.ts", import.meta.url).href;
