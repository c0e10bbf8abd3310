export class BrokenPromise extends Error {
  override readonly name = "BrokenPromise";
}

const started = performance.now();
let kept = 0;

export function promisesKept(): number {
  return kept;
}

export function elapsed(): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}

export function chapter(title: string): void {
  process.stdout.write(`\n${title}\n`);
}

export function explain(line: string): void {
  process.stdout.write(`${elapsed().padStart(6)} s    ${line}\n`);
}

export function show(line: string, holds: boolean, otherwise: unknown): void {
  if (!holds) throw new BrokenPromise(`${line}\n  but: ${describe(otherwise)}`);
  kept += 1;
  process.stdout.write(`${elapsed().padStart(6)} s  ✔ ${line}\n`);
}

function describe(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
