import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** Fills an inbox once for all tests in a file. Returns a function that copies it to a path. */
export function inboxTemplate(
  fill: (file: string) => Promise<void>,
): (file: string) => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "service-bot-"));
  const template = join(folder, "bot.db");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let filled: Promise<void> | undefined;
  return async (file) => {
    filled ??= fill(template);
    await filled;
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(template, file);
  };
}
