import { endianness } from "node:os";
import { describe, inject } from "vitest";
import { Docker } from "../engine/docker.ts";

const engine = inject("engine");

/** Skips the tests if no engine is available. */
export const withEngine: (typeof describe)["skipIf"] extends (condition: boolean) => infer D
  ? D
  : never = describe.skipIf("whyNot" in engine);

export const docker: Docker = new Docker("host" in engine ? engine.host : undefined);

export async function hostAddress(): Promise<string> {
  // Read a container's routes, because a new engine does not report its default gateway, and its bridge is down while
  // no container is running.
  const table = await docker.run("run", "--rm", "debian:12-slim", "cat", "/proc/net/route");
  const route = table.split("\n").map((line) => line.split("\t"));
  const gateway = route.find(([, destination]) => destination === "00000000")?.[2] ?? "";
  const address = Buffer.from(gateway, "hex");
  return (endianness() === "LE" ? address.reverse() : address).join(".");
}
