import { networkInterfaces } from "node:os";
import { describe, inject } from "vitest";
import { Docker } from "../engine/docker.ts";

const engine = inject("engine");

/** Skips where no engine runs. */
export const withEngine: (typeof describe)["skipIf"] extends (condition: boolean) => infer D
  ? D
  : never = describe.skipIf("whyNot" in engine);

/** The tests' engine. */
export const docker: Docker = new Docker("host" in engine ? engine.host : undefined);

/** The address of this machine in the networks of containers. @throws when the engine has no default bridge */
export async function hostAddress(): Promise<string> {
  // A new engine does not report the gateway of its default network.
  const option = `index .Options "com.docker.network.bridge.name"`;
  const bridge = await docker.run("network", "inspect", "--format", `{{${option}}}`, "bridge");
  const address = networkInterfaces()[bridge]?.find(({ family }) => family === "IPv4")?.address;
  if (address === undefined) throw new Error(`the interface ${bridge} has no address`);
  return address;
}
