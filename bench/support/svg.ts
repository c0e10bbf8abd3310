/** Colours that are readable on both white and black. */
export const COLOURS: readonly string[] = ["#1f7fd6", "#d9730d"];
export const TEXT = "#7a828b";
export const GRID = "#8b949e";

/** Returns the opening of an SVG, up to its title. The caller appends `</svg>`. */
export function opening(width: number, height: number, title: string): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
      'role="img" font-family="system-ui, -apple-system, \'Segoe UI\', Helvetica, Arial, sans-serif" font-size="15">',
    `<title>${escaped(title)}</title>`,
    text(16, 28, title, { size: 18, weight: 600 }),
  ].join("\n");
}

export interface Look {
  readonly size?: number;
  readonly weight?: number;
  readonly colour?: string;
  readonly anchor?: "start" | "middle" | "end";
}

export function text(x: number, y: number, words: string, look: Look): string {
  const { size, weight, colour = TEXT, anchor = "start" } = look;
  const own = [size && ` font-size="${size}"`, weight && ` font-weight="${weight}"`].filter(
    Boolean,
  );
  return `<text x="${fixed(x)}" y="${fixed(y)}" fill="${colour}" text-anchor="${anchor}"${own.join("")}>${escaped(words)}</text>`;
}

/** Formats a whole number with separators, such as 12,345. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
