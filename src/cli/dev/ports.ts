import { createServer } from "node:http";
import { bind } from "../../core/bind.ts";
import { hasCode } from "../../errors.ts";

/** Ports that are tried. */
const MAX_TRIES = 50;

/**
 * Returns a port, or the next one above it that is free. If none is, or the host has no port at all, it is `port`, and
 * listening on it reports the problem.
 *
 * @param port 0 stays 0: the system chooses
 */
export async function findFreePort(host: string, port: number): Promise<number> {
  const last = Math.min(port + MAX_TRIES - 1, 65_535);
  for (let candidate = port; candidate <= last; candidate += 1) {
    if (await isFree(host, candidate)) return candidate;
  }
  return port;
}

/** Returns whether nothing listens on a port. A port that cannot be used for another reason counts as free. */
export async function isFree(host: string, port: number): Promise<boolean> {
  if (port === 0) return true;
  const server = createServer();
  try {
    await bind(server, host, port, { names: "HOST, PORT", remedy: "" });
  } catch (error) {
    return !hasCode(error, "ADDRESS_IN_USE");
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
