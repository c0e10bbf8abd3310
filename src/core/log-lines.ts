import { type DestinationStream, type Logger, pino } from "pino";

/** Writes log lines. Lines that may wait share a write call with the next line, or with the others of their turn. */
export class LineWriter implements DestinationStream {
  readonly #destination: DestinationStream;
  #waiting = "";

  constructor(destination: DestinationStream) {
    this.#destination = destination;
  }

  write(line: string): void {
    const lines = this.#waiting + line;
    this.#waiting = "";
    this.#destination.write(lines);
  }

  /** Writes a line at the end of the event loop's turn, or before the next line. */
  writeLater(line: string): void {
    if (this.#waiting === "") setImmediate(() => this.flush());
    this.#waiting += line;
  }

  /** Writes the lines that wait. @param done called afterwards, as `flush` of a pino logger promises */
  flush(done?: () => void): void {
    if (this.#waiting !== "") this.write("");
    done?.();
  }
}

let output: LineWriter | undefined;

/** Returns the writer of standard output, which all loggers of the process share. */
export function standardOutput(): LineWriter {
  if (output === undefined) {
    const writer = new LineWriter(pino.destination({ fd: 1, sync: true }));
    process.on("exit", () => writer.flush());
    output = writer;
  }
  return output;
}

/**
 * Returns a logger whose lines may wait until the end of the event loop's turn. A process that is killed in between
 * loses them, so it is not for lines of an author's code, which may explain why the process died.
 */
export function deferred(log: Logger): Logger {
  const { streamSym } = pino.symbols;
  const writer: unknown = Reflect.get(log, streamSym);
  if (!(writer instanceof LineWriter)) return log;
  const stream: DestinationStream = { write: (line) => writer.writeLater(line) };
  return Object.assign(log.child({}), { [streamSym]: stream });
}
