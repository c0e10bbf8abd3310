const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** Writes a span in its two largest units: "1 h 5 min". Milliseconds; below a second "0 s". */
export function duration(ms: number): string {
  let rest = Math.abs(ms);
  const parts: string[] = [];
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    // Two neighbouring units are exact enough.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** Writes how long ago a time was, in one unit: "just now", "12 s ago", "3 min ago". */
export function ago(ms: number): string {
  if (ms < 5_000) return "just now";
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.floor(ms / size)} ${name} ago`;
}

/** Writes a time in ms as a person reads it: "12 ms", "4 s". */
export function span(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}

/** Writes a size in bytes: "12.3 kB". */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
