import { onTestFinished, vi } from "vitest";
import { WalSync } from "../faces/inbox-sqlite.ts";

/** Syncs of inbox files, watched until the test ends. */
export interface WatchedSyncs {
  /** Number of finished syncs. */
  count: number;
  /** Makes each sync wait for a promise. A rejected promise fails the sync. */
  wait: Promise<unknown>;
}

export function watchSyncs(): WatchedSyncs {
  const watched: WatchedSyncs = { count: 0, wait: Promise.resolve() };
  const { sync } = WalSync.prototype;
  const spy = vi.spyOn(WalSync.prototype, "sync").mockImplementation(async function (
    this: WalSync,
  ) {
    await watched.wait;
    await sync.call(this);
    watched.count += 1;
  });
  onTestFinished(() => spy.mockRestore());
  return watched;
}
