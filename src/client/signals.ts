/** Aborts when one of the two does, of which the other may be missing. */
export function eitherOf(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any(other === undefined ? [signal] : [signal, other]);
}
