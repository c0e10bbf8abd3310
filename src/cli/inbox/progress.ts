import { grouped } from "../text.ts";

/** So often is the line written anew, in milliseconds. */
const EVERY_MS = 100;

/** How far something long is. */
export interface Progress {
  readonly show: (what: string, done: number, of?: number) => void;
  readonly end: () => void;
}

/** Shows how far something is, in one line of a terminal; nothing where there is none. */
export function progressLine(stream: NodeJS.WriteStream): Progress {
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(what, done, of) {
      if (!stream.isTTY || performance.now() - shownAt < EVERY_MS) return;
      shownAt = performance.now();
      const count = of === undefined ? grouped(done) : `${grouped(done)} of ${grouped(of)}`;
      stream.write(`\r\u001b[K${what}: ${count}`);
    },
    end() {
      if (stream.isTTY) stream.write("\r\u001b[K");
    },
  };
}

/** The same on standard error; nothing where a program reads. */
export function progressOn({ json }: { readonly json?: unknown }): Progress {
  return json === true
    ? { show: () => undefined, end: () => undefined }
    : progressLine(process.stderr);
}
