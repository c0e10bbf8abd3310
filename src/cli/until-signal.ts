import type { ProcessLike } from "../core/process.ts";

/** In ms. npm passes on the Ctrl+C that the terminal has sent already; so soon after it is the same one. */
const SAME_MS = 100;

/**
 * Resolves at the first SIGTERM or SIGINT; a second one ends the process at once.
 *
 * @param target receives the signals, and is ended
 * @param elapsed the time since some fixed moment, in ms
 */
export function untilSignal(
  target: ProcessLike = process,
  elapsed: () => number = () => performance.now(),
): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = () => {
      first ??= elapsed();
      if (elapsed() - first > SAME_MS) target.exit(1);
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) target.on(signal, onSignal);
  });
}
