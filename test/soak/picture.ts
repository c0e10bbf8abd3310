import { ticksUpTo } from "../../bench/support/chart.ts";
import { COLOURS, count, fixed, GRID, opening, TEXT, text } from "../../bench/support/svg.ts";
import { faultKinds, type Span } from "./plan.ts";
import type { Sample } from "./sampler.ts";

/** Two lines with one axis. */
interface Panel {
  readonly title: string;
  readonly lines: readonly {
    readonly name: string;
    readonly of: (sample: Sample) => number | undefined;
  }[];
}

const mebi = (bytes: number): number => bytes / 2 ** 20;

const panels: readonly Panel[] = [
  {
    title: "memory, MiB",
    lines: [
      { name: "process (RSS)", of: ({ rss }) => mebi(rss) },
      { name: "heap in use", of: ({ heapUsed }) => mebi(heapUsed) },
    ],
  },
  {
    title: "on disk, MiB",
    lines: [
      { name: "WAL", of: ({ wal }) => mebi(wal) },
      { name: "file of the inbox", of: ({ file }) => mebi(file) },
    ],
  },
  {
    title: "open",
    lines: [
      { name: "file descriptors", of: ({ descriptors }) => descriptors },
      { name: "active handles", of: ({ handles }) => handles },
    ],
  },
  {
    title: "events",
    lines: [
      { name: "pending", of: ({ pending }) => pending },
      { name: "dead letters", of: ({ deadLetters }) => deadLetters },
    ],
  },
];

/** The rows above the panels. */
const rows: readonly (readonly [Span["kind"], string])[] = [
  ["pinned reader", "a reader pins the WAL"],
  ...faultKinds.map((kind) => [kind, words(kind)] as const),
];

const WIDTH = 800;
const LEFT = 72;
const RIGHT = 620;
const ROW = 20;
const ROWS_TOP = 48;
const PANELS_TOP = ROWS_TOP + rows.length * ROW + 30;
const PANEL = 140;
/** Between a panel's lines and the title of the next. */
const GAP = 54;
const HEIGHT = PANELS_TOP + panels.length * (PANEL + GAP) + 12;

/** So many points are enough for a line of this width; each stands for the highest of its samples. */
const POINTS = 360;

/** A run against time: what was done to the bot, and below what it took. As SVG for light and dark pages. */
export function pictureOf(
  samples: readonly Sample[],
  spans: readonly Span[],
  minutes: number,
): string {
  const across = (seconds: number) => LEFT + ((RIGHT - LEFT) * seconds) / (minutes * 60);
  const pins = spans.filter(({ kind }) => kind === "pinned reader");
  return [
    opening(WIDTH, HEIGHT, `A bot for ${count(minutes)} minutes`),
    ...pins.map((pin) => band(pin, across)),
    ...rows.flatMap(([kind, name], nth) => {
      const y = ROWS_TOP + nth * ROW;
      const own = spans.filter((span) => span.kind === kind);
      return [
        text(RIGHT + 12, y + 13, name, { size: 13 }),
        ...own.map((each) => bar(each, y, across)),
      ];
    }),
    ...panels.map((panel, nth) => panelOf(panel, nth, { samples, minutes, across })),
    text((LEFT + RIGHT) / 2, HEIGHT - 8, "minutes", { anchor: "middle" }),
    "</svg>",
    "",
  ].join("\n");
}

type Across = (seconds: number) => number;

function band({ from, to }: Span, across: Across): string {
  const height = HEIGHT - GAP - ROWS_TOP;
  return rectangle(across(from), ROWS_TOP, across(to) - across(from), height, GRID, 0.18);
}

function bar({ from, to }: Span, y: number, across: Across): string {
  // What lasts for a second is to be seen, too.
  return rectangle(across(from), y + 3, Math.max(2, across(to) - across(from)), ROW - 7, TEXT, 1);
}

interface Drawn {
  readonly samples: readonly Sample[];
  readonly minutes: number;
  readonly across: Across;
}

function panelOf(
  { title, lines }: Panel,
  nth: number,
  { samples, minutes, across }: Drawn,
): string {
  const top = PANELS_TOP + nth * (PANEL + GAP);
  const drawn = lines.map(({ of }) => highest(samples, of, minutes * 60));
  const ticks = ticksUpTo(Math.max(1, ...drawn.flatMap((line) => line.map(([, y]) => y))));
  const down = (y: number) => top + PANEL * (1 - y / (ticks.at(-1) ?? 1));
  const every = ticksUpTo(minutes).filter((minute) => minute <= minutes);
  return [
    text(16, top - 10, title, { size: 14, weight: 600 }),
    ...ticks.map((y) => grid(down(y), y)),
    ...every.map((minute) =>
      text(across(minute * 60), top + PANEL + 18, count(minute), { size: 13, anchor: "middle" }),
    ),
    ...drawn.map((line, which) => {
      const path = line.map(([x, y]) => `${fixed(across(x))},${fixed(down(y))}`).join(" ");
      return `<polyline points="${path}" fill="none" stroke="${COLOURS[which]}" stroke-width="1.5"/>`;
    }),
    ...lines.map(({ name }, which) =>
      text(RIGHT + 12, top + 40 + which * 24, name, {
        weight: 600,
        ...(COLOURS[which] === undefined ? {} : { colour: COLOURS[which] }),
      }),
    ),
  ].join("\n");
}

/** The highest value of each part of the run, and when. */
function highest(
  samples: readonly Sample[],
  of: (sample: Sample) => number | undefined,
  seconds: number,
): [at: number, value: number][] {
  const parts = Map.groupBy(
    samples.filter(({ at }) => at <= seconds),
    ({ at }) => Math.floor((at / seconds) * POINTS),
  );
  return [...parts].map(([part, all]) => [
    ((part + 0.5) / POINTS) * seconds,
    Math.max(...all.map((sample) => of(sample) ?? 0)),
  ]);
}

function grid(y: number, value: number): string {
  const line = `<line x1="${LEFT}" x2="${RIGHT}" y1="${fixed(y)}" y2="${fixed(y)}" stroke="${GRID}" stroke-opacity="0.35"/>`;
  return line + text(LEFT - 10, y + 5, count(value), { size: 13, anchor: "end" });
}

function rectangle(
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
  opacity: number,
): string {
  return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(width)}" height="${fixed(height)}" fill="${colour}" fill-opacity="${opacity}"/>`;
}

function words(kind: (typeof faultKinds)[number]): string {
  switch (kind) {
    case "api":
      return "the API fails";
    case "slow":
      return "the platform is slow";
    case "webhook off":
      return "the webhook is off";
    case "stopped":
      return "the bot stands still";
  }
}
