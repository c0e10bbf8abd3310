import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePrivateFile, makePrivateFolderOf, tightenDatabase } from "../faces/core.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("a folder and a file that are made are their owner's alone", () => {
  const file = join(temporaryFolder(), "a", ".service-bot", "dev.db");
  makePrivateFolderOf(file);
  makePrivateFile(file);
  expect([modeOf(join(file, "..")), modeOf(join(file, "..", "..")), modeOf(file)]).toEqual([
    ...["700", "700", "600"],
  ]);
});

test("of the folders that are there, .service-bot alone is closed", () => {
  const folder = temporaryFolder();
  const own = join(folder, ".service-bot");
  mkdirSync(own);
  for (const path of [folder, own]) {
    chmodSync(path, 0o755);
    makePrivateFolderOf(join(path, "dev.db"));
  }
  expect([modeOf(folder), modeOf(own)]).toEqual(["755", "700"]);
});

test("a database that is there is closed with all that is beside it, and keeps its content", () => {
  const file = join(temporaryFolder(), "dev.db");
  for (const suffix of ["", "-wal"]) {
    writeFileSync(`${file}${suffix}`, "x");
    chmodSync(`${file}${suffix}`, 0o644);
  }
  makePrivateFile(file);
  tightenDatabase(file);
  expect([modeOf(file), modeOf(`${file}-wal`), statSync(file).size]).toEqual(["600", "600", 1]);
});
