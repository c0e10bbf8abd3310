import { mulberry32 } from "../../test/support/mulberry32.ts";
import type { Text } from "./texts.ts";

export function drawSample(texts: readonly Text[], count: number, seed: number): string {
  const next = mulberry32(seed);
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
