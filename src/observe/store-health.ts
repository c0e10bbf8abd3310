import type { Clock } from "../core/clock.ts";
import type { InboxMeasures } from "../inbox/admin.ts";
import { type StoreFailure, storeFailures, subscribe } from "./channels.ts";
import type { Measure } from "./measure.ts";

/** The store of this instance. Times are as in `BotStatus`. */
export interface StoreStatus {
  /** `undefined` if the last transaction succeeded. */
  readonly failure: StoreFailureStatus | undefined;
  /** `undefined` with PostgreSQL, in memory, or if the store does not respond. */
  readonly disk: DiskStatus | undefined;
}

/** A store whose last transaction failed. */
export interface StoreFailureStatus {
  /** Kind of the last failure. */
  readonly reason: StoreFailure;
  /** Time of the first failure since a transaction last succeeded. */
  readonly since: number;
}

/** The disk with the inbox. Sizes are in bytes. */
export interface DiskStatus {
  /** True while the bot refuses new events, because free space is below `minFreeBytes`. */
  readonly isLow: boolean;
  /** `undefined` if the file system does not report it. */
  readonly freeBytes: number | undefined;
  /** Value of the `minFreeBytes` option. */
  readonly minFreeBytes: number;
}

/** Watches whether the store's transactions succeed. Without failures, transactions cost nothing more. */
export class StoreHealth {
  readonly #bot: object;
  readonly #clock: Pick<Clock, "now">;
  readonly #unsubscribe: () => void;
  #failure: StoreFailureStatus | undefined;
  #endWatch: (() => void) | undefined;

  constructor(bot: object, clock: Pick<Clock, "now">) {
    this.#bot = bot;
    this.#clock = clock;
    this.#unsubscribe = subscribe(bot, {
      "store-failure": ({ reason }) => this.#failed(reason),
    });
  }

  get failure(): StoreFailureStatus | undefined {
    return this.#failure;
  }

  end(): void {
    this.#unsubscribe();
    this.#endWatch?.();
  }

  /** Low free space is no failed transaction. The measures of the disk show it. */
  #failed(reason: StoreFailure): void {
    if (reason === "disk_low") return;
    this.#failure = { reason, since: this.#failure?.since ?? this.#clock.now() };
    this.#endWatch ??= subscribe(this.#bot, {
      transaction: ({ isCommitted }) => {
        if (isCommitted) this.#recovered();
      },
      // An idle bot commits nothing after its files are back.
      "inbox-file": ({ problem }) => {
        if (problem === undefined && this.#failure?.reason === "file_lost") this.#recovered();
      },
    });
  }

  #recovered(): void {
    this.#failure = undefined;
    this.#endWatch?.();
    this.#endWatch = undefined;
  }
}

export function diskStatusOf(disk: InboxMeasures["disk"]): DiskStatus | undefined {
  if (disk === undefined) return undefined;
  const { free: freeBytes, minFree: minFreeBytes } = disk;
  return { isLow: freeBytes !== undefined && freeBytes < minFreeBytes, freeBytes, minFreeBytes };
}

/** Low free space refuses new events, but fails no transaction. */
const transactionFailures = storeFailures.filter((reason) => reason !== "disk_low");

export const storeMeasures: readonly Measure<StoreStatus>[] = [
  {
    name: "store_failing",
    help: "1 from a failed transaction until the next successful one.",
    label: "reason",
    read: ({ failure }) => {
      const none = Object.fromEntries(transactionFailures.map((reason) => [reason, 0]));
      return failure === undefined ? none : { ...none, [failure.reason]: 1 };
    },
  },
];

/** Measures of a store that guards the disk. */
export const diskMeasures: readonly Measure<StoreStatus>[] = [
  {
    name: "store_disk_free_bytes",
    help: "Free space on the inbox's disk.",
    read: ({ disk }) => disk?.freeBytes ?? Number.NaN,
  },
  {
    name: "store_disk_min_free_bytes",
    help: "Free space below which new events are refused.",
    read: ({ disk }) => disk?.minFreeBytes,
  },
];
