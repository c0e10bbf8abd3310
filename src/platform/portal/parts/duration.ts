const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** Formats a duration in ms with its two largest units: "1 h 5 min". Durations below a second become "0 s". */
export function duration(ms: number): string {
  let rest = Math.abs(ms);
  const parts: string[] = [];
  for (const [size, name] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${name}`);
    // Two adjacent units are precise enough.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** Formats an age in ms with one unit: "just now", "12 s ago", "3 min ago". */
export function ago(ms: number): string {
  if (ms < 5_000) return "just now";
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, "s"];
  return `${Math.floor(ms / size)} ${name} ago`;
}

/** Formats a short duration in ms: "12 ms", "4 s". */
export function span(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms);
}

/** Formats a size in bytes: "12.3 kB". */
export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`;
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)} kB`;
  return `${(count / 1_000_000).toFixed(1)} MB`;
}
