import type { Registry } from "./registry.ts";
export async function compareWithPeer(_registry: Registry): Promise<boolean> {
  return true;
}
