import { test } from "vitest";
import { openWorld, type Respond, type World } from "../conformance/world.ts";

/**
 * Tests a choice of the local platform: a row of docs/internals/local-platform.md, named by the row's first cell. The
 * rules of the platform document have their own tests, which must also pass on a platform with other choices.
 *
 * @param internet serves the URLs that the platform downloads images from
 */
export function choice(
  detail: string,
  show: (world: World) => Promise<void>,
  internet?: Respond,
): void {
  test(detail, async () => show(await openWorld(internet)));
}
