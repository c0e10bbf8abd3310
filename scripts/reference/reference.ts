import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../root.ts";
import { describe, type Entry } from "./describe.ts";
import { readDocstring } from "./docstring.ts";
import { type Declared, idOf, moduleAt } from "./module.ts";
import { anchors, type LinkOf, renderEntries, renderGroup } from "./page.ts";

export interface EntryPoint {
  readonly name: string;
  readonly about: string;
  readonly entries: readonly PublicEntry[];
}

export interface PublicEntry extends Entry {
  readonly declared: Declared;
  /** True if programs can import the type, and no value. */
  readonly isType: boolean;
}

/** Page below docs/ for each entry point that exports names. */
const PAGES: Readonly<Record<string, string>> = {
  "service-bot": "service-bot.md",
  "service-bot/client": "client.md",
  "service-bot/platform": "platform.md",
  "service-bot/testing": "testing.md",
};

const WRITTEN = "<!-- Written by `npm run docs` from the docstrings in src/. -->";

export function entryPoints(): EntryPoint[] {
  const { name, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const built = Object.entries<{ default?: string }>(exports).filter(([, to]) => to.default);
  const points = built.map(([path, { default: to = "" }]) => {
    const module = moduleAt(join(root, to.replace("./dist/", "src/").replace(/\.js$/, ".ts")));
    const onlyTypes = new Set(module.onlyTypes);
    const names = module.names.map((one) => {
      const declared = module.find(one);
      if (declared === undefined) throw new Error(`${module.path}: ${one} is declared nowhere`);
      return { name: one, declared, isOnlyType: onlyTypes.has(one) };
    });
    return { name: posix.join(name, path), module, names };
  });
  const ids = new Set(points.flatMap(({ names }) => names.map(({ declared }) => idOf(declared))));
  const isPublic = (declared: Declared) => ids.has(idOf(declared));
  return points.map(({ name, module, names }) => ({
    name,
    about: readDocstring(module.about).text,
    entries: names.map(({ name: one, declared, isOnlyType }) => {
      const entry = describe(one, declared, isPublic);
      return { ...entry, declared, isType: isOnlyType || entry.kind === "type" };
    }),
  }));
}

/** Returns the text of each page, by path below docs/. */
export function reference(points: readonly EntryPoint[] = entryPoints()): Map<string, string> {
  const pages = new Map([["reference/api/README.md", index(points)]]);
  for (const point of points) {
    const file = PAGES[point.name];
    if (file !== undefined) pages.set(`reference/api/${file}`, page(point, points));
  }
  return pages;
}

/** Entries on the page of an entry point. */
export interface Documented {
  readonly own: readonly PublicEntry[];
  /** Types that the exported ones mention. */
  readonly unexported: readonly PublicEntry[];
}

/** Assigns each entry to a page. An export shared by two entry points is documented with the smaller one. */
export function documentedBy(points: readonly EntryPoint[]): ReadonlyMap<EntryPoint, Documented> {
  const smallestFirst = points.toSorted((a, b) => a.entries.length - b.entries.length);
  const seen = new Set<string>();
  const owned = smallestFirst.map((point) => {
    const own = point.entries.filter(({ declared }) => !seen.has(idOf(declared)));
    for (const { declared } of own) seen.add(idOf(declared));
    return { point, own };
  });
  const isPublic = (declared: Declared) => seen.has(idOf(declared));
  return new Map(
    owned.map(({ point, own }) => [point, { own, unexported: closure(own, isPublic) }]),
  );
}

function addresses(documented: ReadonlyMap<EntryPoint, Documented>): ReadonlyMap<string, string> {
  return new Map(
    [...documented].flatMap(([{ name }, { own, unexported }]) => {
      const at = anchors(own, unexported);
      return own.map((entry) => [idOf(entry.declared), `${PAGES[name]}${at.get(entry)}`] as const);
    }),
  );
}

function page(point: EntryPoint, points: readonly EntryPoint[]): string {
  const documented = documentedBy(points);
  const all = addresses(documented);
  const { own = [], unexported = [] } = documented.get(point) ?? {};
  const here = anchors(own, unexported);
  const ids = new Map([...own, ...unexported].map((entry) => [idOf(entry.declared), entry]));
  const linkOf: LinkOf = (declared) => {
    const entry = ids.get(idOf(declared));
    return entry === undefined ? all.get(idOf(declared)) : here.get(entry);
  };
  const others = point.entries.filter((entry) => !own.includes(entry));
  const links = alphabetical(others).map(({ name, declared }) => `[${name}](${linkOf(declared)})`);
  return [
    `${WRITTEN}\n\n# ${point.name}\n\n${point.about}\n`,
    renderEntries(own, linkOf),
    renderGroup("Unexported types used above", unexported, linkOf),
    ...(links.length === 0 ? [] : [`\n## Also exported\n\n${wrapped(links)}.\n`]),
  ].join("");
}

function wrapped(links: readonly string[]): string {
  return links.join(",\n");
}

export function alphabetical(entries: readonly PublicEntry[]): PublicEntry[] {
  const key = ({ name }: Entry) => `${name.toLowerCase()} ${name}`;
  return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Returns the unexported types that the entries mention, directly or through other types. */
function closure(
  entries: readonly PublicEntry[],
  isPublic: (declared: Declared) => boolean,
): PublicEntry[] {
  const found = new Map<string, PublicEntry>();
  const visit = ({ names }: Entry) => {
    for (const [name, declared] of names) {
      if (isPublic(declared) || found.has(idOf(declared))) continue;
      const entry = { ...describe(name, declared, isPublic), declared, isType: true };
      found.set(idOf(declared), entry);
      visit(entry);
    }
  };
  for (const entry of entries) visit(entry);
  return [...found.values()];
}

function index(points: readonly EntryPoint[]): string {
  const at = addresses(documentedBy(points));
  const sections = points.map(({ name, about, entries }) => {
    const links = alphabetical(entries).map(
      (entry) => `[${entry.name}](${at.get(idOf(entry.declared))})`,
    );
    const file = PAGES[name];
    const title = file === undefined ? name : `[${name}](${file})`;
    return [`## ${title}`, about, ...(links.length === 0 ? [] : [`${wrapped(links)}.`])].join(
      "\n\n",
    );
  });
  return `${WRITTEN}\n\n# Reference\n\n${INTRODUCTION}\n\n${sections.join("\n\n")}\n`;
}

const INTRODUCTION = `
This page lists the exported names by entry point. It is generated from docstrings. Unless stated otherwise, durations are in
milliseconds, and times in milliseconds since 1970. Returned objects are read-only. [errors.md](../errors.md) explains error
codes. [configuration.md](../configuration.md) lists variables and options with their defaults.
`.trim();
