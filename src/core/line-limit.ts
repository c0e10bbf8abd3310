import { Transform, type TransformCallback } from "node:stream";

export interface LineLimitOptions {
  /** Maximum length of a line without its line feed, in bytes. */
  readonly max: number;
  /** Called once for each longer line, with its first and its last bytes. The line is dropped. */
  readonly onLong: (beginning: Buffer, end: Buffer) => void;
}

/** Length of the beginning and the end of a long line that are kept, in bytes. */
const KEPT_BYTES = 256;

const LINE_FEED = 10;

/** Passes on whole lines, and drops lines that are too long, so that a line cannot fill the memory. */
export class LineLimit extends Transform {
  readonly #options: LineLimitOptions;
  #parts: Buffer[] = [];
  #length = 0;
  #end: Buffer = Buffer.alloc(0);

  constructor(options: LineLimitOptions) {
    super();
    this.#options = options;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    for (let at = 0; at < chunk.length; ) {
      const feed = chunk.indexOf(LINE_FEED, at);
      this.#add(chunk.subarray(at, feed < 0 ? chunk.length : feed));
      if (feed < 0) break;
      this.#endLine("\n");
      at = feed + 1;
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#length > 0) this.#endLine("");
    done();
  }

  #add(part: Buffer): void {
    this.#length += part.length;
    this.#parts.push(part);
    if (this.#length <= this.#options.max) return;
    // Copies the bytes, because a view would keep whole chunks in memory.
    this.#parts = [Buffer.concat(this.#parts, Math.min(KEPT_BYTES, this.#length))];
    this.#end = Buffer.concat([this.#end, part.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
  }

  #endLine(feed: "\n" | ""): void {
    const [parts, length, end] = [this.#parts, this.#length, this.#end];
    this.#parts = [];
    this.#length = 0;
    this.#end = Buffer.alloc(0);
    if (length <= this.#options.max) this.push(Buffer.concat([...parts, Buffer.from(feed)]));
    else this.#options.onLong(Buffer.concat(parts), end);
  }
}
