import { describe, inject } from "vitest";
import { Docker } from "../engine/docker.ts";

const engine = inject("engine");

/** Skips where no engine runs. */
export const withEngine: (typeof describe)["skipIf"] extends (condition: boolean) => infer D
  ? D
  : never = describe.skipIf("whyNot" in engine);

/** The tests' engine. */
export const docker: Docker = new Docker("host" in engine ? engine.host : undefined);

/** The address of this machine in the networks of containers. */
export async function hostAddress(): Promise<string> {
  return docker.run(
    "network",
    "inspect",
    "--format",
    "{{(index .IPAM.Config 0).Gateway}}",
    "bridge",
  );
}
