export function perSecond(count: number, ms: number): number {
  return count / (ms / 1000);
}
