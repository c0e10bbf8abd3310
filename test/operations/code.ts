import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, loadConfig, defaults as optionDefaults } from "../faces/bot.ts";

export const root: string = join(import.meta.dirname, "../..");
export const operations: string = join(root, "templates/operations");

export const defaults: Config = loadConfig({
  SERVICE_BASE_URL: "https://platform.example.org",
  SERVICE_API_KEY: "sbk_any",
  DELIVERY: "polling",
});

/**
 * Longest shutdown according to docs/deploy/overview.md, in ms: the grace period or the drain, then closing the store.
 */
export function longestStopMs(drainMs: number = defaults.drainMs): number {
  const [, seconds, more] = find(
    join(root, "docs/deploy/overview.md"),
    /`shutdownGraceMs`\s+\((\d+)\s+s\)\s+and\s+(\d+)\s+s\s+more/,
  );
  const graceMs = optionDefaults.shutdownGraceMs;
  if (graceMs !== Number(seconds) * 1000)
    throw new Error("docs/deploy/overview.md states a different grace period");
  return Math.max(graceMs, drainMs) + Number(more) * 1000;
}

function find(path: string, pattern: RegExp): RegExpExecArray {
  const found = pattern.exec(readFileSync(path, "utf8"));
  if (found === null) throw new Error(`${path} no longer matches: ${pattern}`);
  return found;
}
