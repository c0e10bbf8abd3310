import type { Io } from "./io.ts";

/** What a finished piece of work gave, and how long it took. */
export interface Timed<T> {
  readonly value: T;
  /** Milliseconds. */
  readonly ms: number;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
const CLEAR_LINE = "\r\x1b[K";

/**
 * Does something that takes its time, and shows it: on a terminal by a line with the seconds so far,
 * which is gone at the end; elsewhere by one line at the start.
 */
export async function timed<T>(
  what: string,
  io: Io,
  json: boolean,
  work: () => Promise<T>,
): Promise<Timed<T>> {
  const [write, rewrites] = json ? [io.err, io.rewrites.err] : [io.out, io.rewrites.out];
  const started = io.now();
  let frame = 0;
  const show = () => {
    const seconds = Math.floor((io.now() - started) / 1000);
    write(`${CLEAR_LINE}${FRAMES[frame++ % FRAMES.length]} ${what}  ${seconds} s`);
  };
  if (rewrites) show();
  else write(`  ${what} …\n`);
  const stop = rewrites ? io.every(FRAME_MS, show) : undefined;
  try {
    return { value: await work(), ms: io.now() - started };
  } finally {
    stop?.();
    if (stop !== undefined) write(CLEAR_LINE);
  }
}
