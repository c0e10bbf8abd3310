import type { ServerResponse } from "node:http";
import { test } from "vitest";
import { type RuleId, rules } from "./rules.ts";
import { elsewhere, openWorld, type World } from "./world.ts";

/** Answers a download by its path, as a server of the internet would. */
export type Respond = (response: ServerResponse, path: string) => void;

/** Shows one rule of the document on a platform in its first state. */
export function rule(id: RuleId, show: (world: World) => Promise<void>): void {
  test(nameOf(id), async () => show(await openWorld()));
}

/**
 * Shows a rule about downloads. The image must come from an https server with a public address, which a
 * test has not: one on this machine stands in, and a platform in another process cannot be told so.
 */
export function ruleOfDownloads(
  id: RuleId,
  internet: Respond,
  show: (world: World) => Promise<void>,
): void {
  test.skipIf(elsewhere)(nameOf(id), async () => show(await openWorld(internet)));
}

function nameOf(id: RuleId): string {
  return `${id}: ${rules[id]}`;
}
