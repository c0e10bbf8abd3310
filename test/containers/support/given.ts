import { endianness } from "node:os";
import { describe, inject } from "vitest";
import { Docker } from "../engine/docker.ts";

const engine = inject("engine");

/** Skips where no engine runs. */
export const withEngine: (typeof describe)["skipIf"] extends (condition: boolean) => infer D
  ? D
  : never = describe.skipIf("whyNot" in engine);

/** The tests' engine. */
export const docker: Docker = new Docker("host" in engine ? engine.host : undefined);

/** The address of this machine in the networks of containers, as a container sees it. */
export async function hostAddress(): Promise<string> {
  // A new engine does not report the gateway of its default network, and a bridge without containers is down.
  const table = await docker.run("run", "--rm", "debian:12-slim", "cat", "/proc/net/route");
  const route = table.split("\n").map((line) => line.split("\t"));
  const gateway = route.find(([, destination]) => destination === "00000000")?.[2] ?? "";
  const address = Buffer.from(gateway, "hex");
  return (endianness() === "LE" ? address.reverse() : address).join(".");
}
