import type { StoreLook } from "./looks.ts";
import { gauge } from "./make.ts";
import type { Gauge, Registry } from "./prom.ts";

/** What an inbox in a file takes, and what is left for it. */
export class DiskState {
  readonly #size: Gauge<"file">;
  readonly #free: Gauge;
  readonly #minFree: Gauge;

  constructor(registry: Registry) {
    const make = (name: string, help: string) => gauge(registry, `service_bot_store_${name}`, help);
    this.#size = gauge(
      registry,
      "service_bot_store_size_bytes",
      "Size of the inbox: its file, and what was committed and is not in it yet.",
      ["file"],
    );
    this.#free = make("disk_free_bytes", "What is free on the disk of the inbox.");
    this.#minFree = make(
      "disk_min_free_bytes",
      "New events are refused below this much free space.",
    );
  }

  update(look: StoreLook | undefined): void {
    const { database, wal, free, minFree } = look?.measures.disk ?? {};
    this.#size.set({ file: "database" }, database ?? Number.NaN);
    this.#size.set({ file: "wal" }, wal ?? Number.NaN);
    this.#free.set(free ?? Number.NaN);
    if (minFree !== undefined) this.#minFree.set(minFree);
  }
}
