/** The first promise that did not hold. */
export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

const started = performance.now();
let kept = 0;

/** How many promises have been shown so far. */
export function promisesKept(): number {
  return kept;
}

/** Seconds since the demo began. */
export function elapsed(): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

/** Opens a chapter of the timeline. */
export function chapter(title: string): void {
  process.stdout.write(`\n${title}\n`);
}

/** A line of the timeline that only tells. */
export function tell(line: string): void {
  process.stdout.write(`${elapsed().padStart(6)} s    ${line}\n`);
}

/** A line of the timeline that is asserted: it is printed when it holds, and ends the demo when it does not. */
export function show(line: string, holds: boolean, otherwise: unknown): void {
  if (!holds) throw new BrokenPromise(`${line}\n  but: ${describe(otherwise)}`);
  kept += 1;
  process.stdout.write(`${elapsed().padStart(6)} s  ✔ ${line}\n`);
}

function describe(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
