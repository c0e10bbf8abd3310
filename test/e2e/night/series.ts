/** Maps a name and labels, in Prometheus' notation, to a sample. */
export type Scrape = ReadonlyMap<string, number>;

/** Number of samples in each part of a night, one per minute. */
export const CALM_MINUTES = 20;
export const FAULT_MINUTES = 100;
export const MENDED_MINUTES = 100;

/** Labels that a scraper adds to every series. */
const TARGET = 'job="service-bot",instance="bot"';

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

/** Four scrapes of one bot: before the fault, twice during the fault, and after the repair. */
export interface Night {
  readonly calm: Scrape;
  readonly fault: Scrape;
  readonly later: Scrape;
  readonly mended: Scrape;
  /** Time between the two scrapes during the fault, in seconds. */
  readonly elapsed: number;
}

/**
 * Extrapolates the series that Prometheus would have recorded, with one sample a minute. During the fault, a counter
 * grows each minute by its total increase between the calm scrape and the last scrape of the fault. Ages grow with
 * time, and other values stay constant.
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
      // The repair does not decrease a counter.
      run(isCounter(series) ? last : mended, 0, MENDED_MINUTES),
    ];
    return { series, values: values.join(" ") };
  });
}

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

/** Formats a series for promtool: first value, step and number of repetitions. */
function run(from: number, step: number, minutes: number): string {
  if (Number.isNaN(from)) return `_x${minutes}`;
  return `${decimal(from)}${step < 0 ? "" : "+"}${decimal(step)}x${minutes - 1}`;
}

/** Formats a number without an exponent, because promtool does not parse exponents. */
function decimal(value: number): string {
  return value.toFixed(9).replace(/\.?0+$/, "");
}
