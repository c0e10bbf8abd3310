/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      resolve();
      for (const signal of ["SIGTERM", "SIGINT"] as const) {
        process.off(signal, stop);
        process.once(signal, () => process.exit(1));
      }
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop);
  });
}
