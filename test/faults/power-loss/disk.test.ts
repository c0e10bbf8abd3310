import { expect, test } from "vitest";
import { Random } from "../random.ts";
import { Disk, type Image } from "./disk.ts";
import type { JournalRecord } from "./journal.ts";

const inode = 7n;
const opened: JournalRecord = { kind: "opened", inode, name: "a" };
const named: JournalRecord = { kind: "sync folder" };
const synced: JournalRecord = { kind: "sync", inode };
const write = (offset: number, text: string): JournalRecord => {
  return { kind: "write", inode, offset, data: Buffer.from(text) };
};

/** What many power losses after these records leave of the file: each outcome once. */
function outcomes(...records: readonly JournalRecord[]): Set<string | undefined> {
  const disk = new Disk();
  for (const record of records) disk.apply(record);
  const random = new Random(1);
  const text = (image: Image) => image.get("a")?.toString();
  return new Set(Array.from({ length: 200 }, () => text(disk.afterPowerLoss(random))));
}

test("what was synced is there, and nothing else was", () => {
  expect(outcomes(opened, named, write(0, "one"), synced)).toEqual(new Set(["one"]));
});

test("of what was not synced any part may be there, in any order", () => {
  const found = outcomes(opened, named, write(0, "one"), synced, write(0, "1"), write(1, "2"));
  expect(found).toEqual(new Set(["one", "1ne", "o2e", "12e"]));
});

test("a write may be torn between sectors, and the hole reads as zeros", () => {
  const sectors = (image = "") => [image.slice(0, 1), image.slice(512, 513)].join("");
  const found = outcomes(opened, named, write(0, `${"x".repeat(512)}${"y".repeat(512)}`));
  expect(new Set([...found].map(sectors))).toEqual(new Set(["", "x", "xy", "\0y"]));
});

test("a file whose folder was not synced may be gone, although it was synced itself", () => {
  expect(outcomes(opened, write(0, "one"), synced)).toEqual(new Set(["one", undefined]));
});

test("a file that was removed may be there again until the folder is synced", () => {
  const removed: JournalRecord = { kind: "unlink", name: "a" };
  const before = [opened, named, write(0, "one"), synced, removed];
  expect(outcomes(...before)).toEqual(new Set(["one", undefined]));
  expect(outcomes(...before, named)).toEqual(new Set([undefined]));
});

test("a truncation may have reached the disk or not", () => {
  const cut: JournalRecord = { kind: "truncate", inode, size: 1 };
  expect(outcomes(opened, named, write(0, "one"), synced, cut)).toEqual(new Set(["one", "o"]));
});

test("the number of a file that is gone may be that of a new one", () => {
  const removed: JournalRecord = { kind: "unlink", name: "a" };
  const before = [opened, write(0, "one"), synced, removed, named];
  expect(outcomes(...before, opened, write(0, "2"), synced, named)).toEqual(new Set(["2"]));
});
