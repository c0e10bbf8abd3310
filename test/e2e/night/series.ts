/** One sample of a scrape: the name with its labels, as Prometheus writes it, and its value. */
export type Scrape = ReadonlyMap<string, number>;

/** So many samples lie in each part of a night, one a minute. */
export const CALM_MINUTES = 20;
export const FAULT_MINUTES = 100;
export const MENDED_MINUTES = 100;

/** What a scraper adds to every series. */
const TARGET = 'job="service-bot",instance="bot"';

/** Reads the text format; what a scraper adds is added. */
export function readScrape(text: string): Scrape {
  const samples = text
    .split("\n")
    .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name, labels = "", value]): [string, number] => [
      `${name}{${[TARGET, labels.replace(/,$/, "")].filter(Boolean).join(",")}}`,
      Number(value?.replace("Inf", "Infinity")),
    ]);
  return new Map([[`up{${TARGET}}`, 1], ...samples]);
}

/** Four looks at one bot: well, twice in the middle of the fault, and after it was mended. */
export interface Night {
  readonly calm: Scrape;
  readonly fault: Scrape;
  readonly later: Scrape;
  readonly mended: Scrape;
  /** Between the two looks at the fault, in seconds. */
  readonly elapsed: number;
}

/**
 * What Prometheus would have seen of it, a sample a minute. While the fault lasts counters grow each minute by what
 * the fault has brought about before the test looked, ages grow with the time, and the rest stays as it was.
 */
export function seriesOf(night: Night): { readonly series: string; readonly values: string }[] {
  const names = new Set([...night.calm.keys(), ...night.later.keys(), ...night.mended.keys()]);
  return [...names].map((series) => {
    const calm = night.calm.get(series) ?? (isCounter(series) ? 0 : Number.NaN);
    const later = night.later.get(series) ?? calm;
    const mended = night.mended.get(series) ?? later;
    const step = stepOf(series, night);
    const from = isCounter(series) ? calm : later;
    const last = from + step * FAULT_MINUTES;
    const values = [
      run(calm, 0, CALM_MINUTES),
      run(from, step, FAULT_MINUTES),
      // A counter has not fallen by being mended.
      run(isCounter(series) ? last : mended, 0, MENDED_MINUTES),
    ];
    return { series, values: values.join(" ") };
  });
}

/** How much it grows in a minute of the fault. */
function stepOf(series: string, { calm, fault, later, elapsed }: Night): number {
  if (isCounter(series)) return Math.max(0, (later.get(series) ?? 0) - (calm.get(series) ?? 0));
  const grown = (later.get(series) ?? 0) - (fault.get(series) ?? 0);
  return isAge(series) && grown > 0.8 * elapsed ? 60 : 0;
}

function isCounter(series: string): boolean {
  return /^\w+_(?:total|count|sum|bucket)\{/.test(series);
}

function isAge(series: string): boolean {
  return /^\w+_(?:age|lag)_seconds\{/.test(series);
}

/** As promtool writes a run: the first value, what is added, and how often. */
function run(from: number, step: number, minutes: number): string {
  if (Number.isNaN(from)) return `_x${minutes}`;
  return `${decimal(from)}${step < 0 ? "" : "+"}${decimal(step)}x${minutes - 1}`;
}

/** promtool takes no exponents. */
function decimal(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, "");
}
