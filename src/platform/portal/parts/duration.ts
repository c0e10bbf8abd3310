const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** A span as people say it, in its two largest units: "1 h 5 min". Milliseconds; below a second "0 s". */
export function duration(ms: number): string {
  let rest = Math.abs(ms);
  const parts: string[] = [];
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    // Two units that lie beside each other: "1 d 3 s" says more than anybody wants to know.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** A size in bytes as people say it: "12.3 kB". */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
