/** npm passes on the Ctrl+C that the terminal has sent already: so soon after, in ms, it is the same one. */
const SAME_MS = 100;

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = () => {
      first ??= performance.now();
      if (performance.now() - first > SAME_MS) process.exit(1);
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  });
}
