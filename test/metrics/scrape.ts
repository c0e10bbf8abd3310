export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Parses Prometheus's text format. @throws {Error} if a line is unknown */
export function readScrape(text: string): ReadonlyMap<string, Family> {
  const families = new Map<string, Family & { samples: Sample[] }>();
  let current: (Family & { samples: Sample[] }) | undefined;
  for (const line of text.split("\n").filter((one) => one !== "")) {
    const [, name = "", help = ""] = /^# HELP (\S+) (.*)$/.exec(line) ?? [];
    const [, typed, type = ""] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== "") {
      if (families.has(name)) throw new Error(`duplicate metric ${name}`);
      current = { name, help, type: "", samples: [] };
    } else if (typed !== undefined && typed === current?.name) {
      current = { ...current, type };
      families.set(typed, current);
    } else {
      current?.samples.push(readSample(line));
    }
  }
  return families;
}

function readSample(line: string): Sample {
  const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw new Error(`Not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, key = "", text = ""]) => [key, text])),
    value: value === "+Inf" ? Infinity : Number(value),
  };
}

/** Returns the values of the samples that have these labels. */
export function valuesOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number[] {
  const family = families.get(name.replace(/_(bucket|sum|count)$/, "")) ?? families.get(name);
  const samples = family?.samples.filter((sample) => sample.name === name) ?? [];
  return samples
    .filter((sample) => Object.entries(labels).every(([key, text]) => sample.labels[key] === text))
    .map(({ value }) => value);
}

/** Returns a metric's label names, except a histogram's `le`. */
export function labelsOf({ samples }: Family): readonly string[] {
  const names = samples.flatMap(({ labels }) => Object.keys(labels));
  return [...new Set(names)].filter((name) => name !== "le");
}
