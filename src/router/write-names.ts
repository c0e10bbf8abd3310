import { type OptionNames, refuseProblems, unknownOptions } from "../core/ranges.ts";

/** Options of `ctx.reply`, `ctx.comment`, `ctx.post` and `ctx.upload`. */
export interface WriteOptions {
  /**
   * Names the write, in the place of its number. A write with another key than in an earlier run is made in any case.
   * 1 to 100 characters, without control characters. It appears in the log and in `service-bot inbox show`.
   */
  readonly key?: string | undefined;
}

export type WriteKind = "reply" | "comment" | "post" | "upload";

/** No control or invisible character, and no half of one. */
const KEY = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

/** Names the writes of one run. Two replies with one text are two replies, because calls are numbered. */
export class WriteNames {
  readonly #counts = { reply: 0, comment: 0, post: 0, upload: 0 };

  /** The name of the next write: `reply/1`, or `reply/key:sorry` with the key `sorry`. Keys leave the numbers alone. */
  next(kind: WriteKind, { key }: WriteOptions): string {
    if (key !== undefined) return `${kind}/key:${key}`;
    this.#counts[kind] += 1;
    return `${kind}/${this.#counts[kind]}`;
  }
}

const WRITE_OPTIONS: OptionNames<WriteOptions> = { key: true };

/** @throws {ServiceBotError} INVALID_OPTION */
export function checkWriteOptions(options: WriteOptions): void {
  refuseProblems([...unknownOptions(options, WRITE_OPTIONS), keyProblem(options)]);
}

function keyProblem({ key }: WriteOptions): string | undefined {
  if (key === undefined || (typeof key === "string" && KEY.test(key))) return undefined;
  return "key must be a text of 1 to 100 characters without control characters";
}
