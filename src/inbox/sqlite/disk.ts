import { statfsSync, statSync } from "node:fs";
import type { Clock } from "../../core/clock.ts";
import { ServiceBotError } from "../../errors.ts";
import { channels } from "../../observe/channels.ts";
import type { DiskMeasures } from "../records.ts";

export interface DiskGuardOptions {
  /** A folder on the disk. */
  readonly folder: string;
  /** New events are refused when less than this is free, in bytes. */
  readonly minFreeBytes: number;
  readonly clock: Clock;
  /** How much is free, in bytes; by default what the file system says. */
  readonly freeBytes?: (folder: string) => number;
  /** Sender of what is published on channels. */
  readonly bot?: object | undefined;
}

/** The default of `minFreeBytes`. */
export const MIN_FREE_BYTES: number = 64 * 1024 * 1024;

/** The file system is asked this often at most, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Refuses new events while the disk is nearly full. What is left is for the events that are under way:
 * an outcome or a step that cannot be written is worse than a delivery that comes again.
 */
export class DiskGuard {
  readonly #options: DiskGuardOptions;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #free = Number.POSITIVE_INFINITY;

  constructor(options: DiskGuardOptions) {
    this.#options = options;
  }

  /** Free space in bytes; `undefined` if the file system does not report it. */
  get free(): number | undefined {
    this.#look();
    return Number.isFinite(this.#free) ? this.#free : undefined;
  }

  get minFree(): number {
    return this.#options.minFreeBytes;
  }

  /** @throws {ServiceBotError} STORE_UNAVAILABLE */
  refuseWhenLow(): void {
    const { minFreeBytes, bot } = this.#options;
    this.#look();
    if (this.#free >= minFreeBytes) return;
    channels["store-failure"].publish({ bot, reason: "disk_low" });
    throw new ServiceBotError(
      "STORE_UNAVAILABLE",
      `The disk of the inbox has ${megabytes(this.#free)} free, and ${megabytes(minFreeBytes)} are kept for ` +
        "what is under way. Free some space; new events are taken again as soon as there is.",
    );
  }

  #look(): void {
    const { folder, clock, freeBytes = freeOn } = this.#options;
    const now = clock.now();
    // A clock that was set back must not blind it.
    if (Math.abs(now - this.#checkedAt) < INTERVAL_MS) return;
    this.#checkedAt = now;
    try {
      this.#free = freeBytes(folder);
    } catch {
      // Not every file system reports it. The commit itself would fail.
      this.#free = Number.POSITIVE_INFINITY;
    }
  }
}

/** How large the file of an inbox is, and what lies beside it. */
export function sizesOf(file: string): Pick<DiskMeasures, "database" | "wal"> {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return { database: sizeOf(file), wal: sizeOf(`${file}-wal`) };
}

function freeOn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MB`;
}
