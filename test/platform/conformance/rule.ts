import { test } from "vitest";
import { type RuleId, rules } from "./rules.ts";
import { elsewhere, openWorld, type Respond, type World } from "./world.ts";

export function rule(id: RuleId, show: (world: World) => Promise<void>): void {
  test(nameOf(id), async () => show(await openWorld()));
}

/**
 * Tests rules about one resource, such as those about its fields. Each rule has its own world.
 *
 * @param make creates the resource
 */
export function rulesOf<T>(
  make: (world: World) => Promise<T>,
  checks: Readonly<Partial<Record<RuleId, (made: T, world: World) => unknown>>>,
): void {
  for (const [id, check] of Object.entries(checks)) {
    rule(id as RuleId, async (world) => void (await check(await make(world), world)));
  }
}

/**
 * Tests a rule about downloads. The image must come from a public https server, so a local server takes its place.
 * Skipped for a platform in another process, which cannot be redirected to the local server.
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
