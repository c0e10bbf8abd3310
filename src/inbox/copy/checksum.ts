import { hash } from "node:crypto";
import type { Row } from "./tables.ts";

const BYTES = 32;

/**
 * Of the rows of a table, whatever their order: the SHA-256 of each, by exclusive or. No two rows are equal,
 * so none takes another away.
 */
export class Checksum {
  readonly #sum = Buffer.alloc(BYTES);
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const digest = hash("sha256", textOf(row), "buffer");
      for (let at = 0; at < BYTES; at += 1) {
        this.#sum[at] = (this.#sum[at] ?? 0) ^ (digest[at] ?? 0);
      }
    }
    this.#rows += rows.length;
  }

  toString(): string {
    return this.#sum.toString("hex");
  }
}

/** Not every store keeps halves of characters (lone surrogates), which are found in no text that means something. */
function textOf(row: Row): string {
  return JSON.stringify(row.map((cell) => (typeof cell === "string" ? cell.toWellFormed() : cell)));
}
