import type { Text } from "./texts.ts";

/** Returns `count` random texts of each kind. The first line has the seed. */
export function drawSample(texts: readonly Text[], count: number, seed: number): string {
  const next = randomNumbers(seed);
  const lines = [`seed ${seed}`];
  for (const kind of ["comment", "message", "prose"] as const) {
    const left = texts.filter((text) => text.kind === kind && text.words.split(" ").length > 3);
    for (let n = 0; n < count && left.length > 0; n++) {
      const [drawn] = left.splice(Math.floor(next() * left.length), 1);
      if (drawn !== undefined)
        lines.push(`${kind} ${drawn.file}:${drawn.line}\n    ${drawn.words}`);
    }
  }
  return lines.join("\n");
}

/** Yields reproducible numbers in [0, 1) for a seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
