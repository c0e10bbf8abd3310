import { totalmem } from "node:os";

/** Returns the bytes that this process may use: the limit of its container, or the memory of the machine if that is less. */
export function usableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
