import { ServiceBotError } from "../errors.ts";

/** The oldest Node that strips types by itself and loads the SQLite binding without a crash. */
export const OLDEST_NODE = "22.18.0";

/**
 * Refuses a Node that is too old, before anything native is loaded: the SQLite binding takes the
 * whole process down on Node 20, without a word.
 *
 * @throws {ServiceBotError} NODE_TOO_OLD
 */
export function requireNode(version: string = process.versions.node): void {
  if (isAtLeast(version, OLDEST_NODE)) return;
  throw new ServiceBotError(
    "NODE_TOO_OLD",
    `service-bot needs Node ${OLDEST_NODE} or newer; this is Node ${version}. ` +
      "Install a newer Node, or keep this one and run: npm install --save-dev node@24 " +
      "(npm scripts then use that Node).",
  );
}

function isAtLeast(version: string, oldest: string): boolean {
  const actual = version.split(".").map(Number);
  for (const [index, wanted] of oldest.split(".").map(Number).entries()) {
    const part = actual[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
