import { createReadStream } from "node:fs";
import { CommandError } from "../usage.ts";

/** Nobody's event is longer, in bytes; a file without a line break must not fill the memory. */
const LONGEST = 64 * 1024 * 1024;

export interface Line {
  /** From 1 up. */
  readonly number: number;
  readonly value: unknown;
}

/**
 * Reads the JSON of each line. Lines end with a line feed alone: Node's own reader takes two characters for the end of a
 * line that JSON permits in a text.
 *
 * @throws {CommandError} with the number of the line that is none
 */
export async function* readLines(file: string): AsyncGenerator<Line> {
  let number = 0;
  for await (const bytes of split(file)) {
    number += 1;
    const text = decode(bytes, number);
    if (text.trim() !== "") yield { number, value: parse(text, number) };
  }
}

async function* split(file: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    if (!Buffer.isBuffer(chunk)) continue;
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, at)]);
      parts = [];
      length = 0;
      from = at + 1;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > LONGEST) throw new CommandError(`${file} has a line of more than 64 MB.`);
  }
  if (length > 0) yield Buffer.concat(parts);
}

const LF = 0x0a;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Buffer, number: number): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badLine(number, "it is not UTF-8");
  }
}

function parse(text: string, number: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What JSON.parse says quotes the text, which is somebody's.
    throw badLine(number, "it is no JSON; was the export cut short?");
  }
}

/** What to say of a line that cannot be read. */
export function badLine(number: number, problem: string): CommandError {
  return new CommandError(`line ${number}: ${problem}`);
}
