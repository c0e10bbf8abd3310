import { totalmem } from "node:os";

/**
 * Returns the memory available to this process, in bytes: the container's limit or the machine's memory, whichever is
 * less.
 */
export function usableMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
