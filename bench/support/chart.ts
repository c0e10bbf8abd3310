import { COLOURS, count, fixed, GRID, opening, TEXT, text } from "./svg.ts";

/** A line in a chart. Its points are sorted by `x`. */
export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Chart {
  readonly title: string;
  readonly axes: { readonly x: string; readonly y: string };
  /** At most two lines. */
  readonly series: readonly Series[];
}

const WIDTH = 800;
const HEIGHT = 400;
const AREA = { left: 72, top: 74, right: 580, bottom: 330 };

/** Minimum vertical distance between the two line labels. */
const APART = 44;

/**
 * Draws a line chart as an SVG that is readable on both light and dark pages. The x axis is logarithmic, with 0 one
 * step before the first positive value. The y axis begins at 0.
 */
export function lineChart({ title, axes, series }: Chart): string {
  const points = series.flatMap((each) => each.points);
  const across = acrossOf(points.map(({ x }) => x));
  const ticks = ticksUpTo(Math.max(...points.map(({ y }) => y)));
  const top = ticks.at(-1) ?? 1;
  const down = (y: number) => AREA.bottom - (y / top) * (AREA.bottom - AREA.top);
  const place = ({ x, y }: Point): Place => ({ x: across(x), y: down(y) });
  const names = namesOf(series.map(({ points }) => down(points.at(-1)?.y ?? 0)));
  return [
    opening(WIDTH, HEIGHT, title),
    text(16, 52, axes.y, {}),
    ...ticks.map((y) => grid(down(y), count(y))),
    ...[...new Set(points.map(({ x }) => x))].map((x) => tick(across(x), short(x))),
    text((AREA.left + AREA.right) / 2, HEIGHT - 18, axes.x, { anchor: "middle" }),
    ...series.map(({ points }, nth) => line(points.map(place), COLOURS[nth])),
    ...series.map((each, nth) => label(each, names[nth] ?? 0, COLOURS[nth])),
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  readonly x: number;
  readonly y: number;
}

function acrossOf(values: readonly number[]): (x: number) => number {
  const first = Math.min(...values.filter((x) => x > 0));
  const before = values.includes(0) ? 1 : 0;
  const steps = (x: number) => (x === 0 ? 0 : before + Math.log10(x / first));
  const all = Math.max(...values.map(steps)) || 1;
  const margin = 24;
  return (x) => AREA.left + margin + (steps(x) / all) * (AREA.right - AREA.left - 2 * margin);
}

/** Returns up to eight round numbers, evenly spaced, from 0 to at least the highest value. */
export function ticksUpTo(highest: number): number[] {
  const power = 10 ** Math.floor(Math.log10(highest));
  const step = [0.2, 0.5, 1, 2].map((each) => each * power).find((each) => highest / each <= 6);
  const by = step ?? 2 * power;
  return Array.from({ length: Math.ceil(highest / by) + 1 }, (_, nth) => nth * by);
}

/** Returns the vertical positions of the labels, moved apart if they overlap but in the same order. */
function namesOf(ends: readonly number[]): number[] {
  const [first, second] = ends;
  if (first === undefined || second === undefined || Math.abs(first - second) >= APART)
    return [...ends];
  const middle = (first + second) / 2;
  const up = first <= second ? -APART / 2 : APART / 2;
  return [middle + up, middle - up];
}

function grid(y: number, words: string): string {
  const line = `<line x1="${AREA.left}" x2="${AREA.right}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${GRID}" stroke-opacity="0.35"/>`;
  return line + text(AREA.left - 10, y + 5, words, { anchor: "end" });
}

function tick(x: number, words: string): string {
  const line = `<line x1="${fixed(x)}" x2="${fixed(x)}" y1="${AREA.bottom}" y2="${AREA.bottom + 6}" stroke="${GRID}"/>`;
  return line + text(x, AREA.bottom + 24, words, { anchor: "middle" });
}

function line(places: readonly Place[], colour = TEXT): string {
  const path = places.map(({ x, y }) => `${fixed(x)},${fixed(y)}`).join(" ");
  const dots = places.map(
    ({ x, y }) => `<circle cx="${fixed(x)}" cy="${fixed(y)}" r="4.5" fill="${colour}"/>`,
  );
  return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2.5" stroke-linejoin="round"/>${dots.join("")}`;
}

function label({ name, points }: Series, y: number, colour = TEXT): string {
  const [first, last] = [points[0]?.y ?? Number.NaN, points.at(-1)?.y ?? Number.NaN];
  const x = AREA.right + 12;
  const share = `${count(last)}: ${(last / first).toFixed(2)} of the first`;
  return text(x, y, name, { colour, weight: 600 }) + text(x, y + 20, share, { size: 14 });
}

/** Formats a value in short form, such as 10,000 or 5 million. */
function short(value: number): string {
  return value >= 1_000_000 ? `${value / 1_000_000} million` : count(value);
}
