import { LONGEST_TIMER_MS } from "./clock.ts";

/** What of `process` is used here, so that tests can stand in for it. */
export interface ProcessLike {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  off(event: NodeJS.Signals, listener: () => void): unknown;
  exit(code: number): void;
}

/** Keeps the process alive until this has ended: connections to a database do not. */
export function untilEnded<T>(work: Promise<T>): Promise<T> {
  const timer = setInterval(() => undefined, LONGEST_TIMER_MS);
  return work.finally(() => clearInterval(timer));
}

const signals: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT"];

/**
 * Ends the process on SIGTERM and SIGINT: after `stop` with exit code 0, at a second signal at once
 * with exit code 1. Returns what takes the listeners off again.
 */
export function exitOnSignals(stop: () => Promise<void>, process: ProcessLike): () => void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) {
      process.exit(1);
      return;
    }
    stopping = true;
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
}
