import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { emptyHome } from "../../scripts/registry/home.ts";
import { complete } from "../../scripts/registry/program.ts";
import { commandsOf } from "../../scripts/registry/toolchain.ts";
import type { Figure, Samples, Stage, Subject } from "../harness/benchmark.ts";

/** A published scaffolder. With its `flags`, it asks no questions and only writes files. */
interface Scaffolder {
  readonly key: "ours" | "peer";
  readonly name: string;
  readonly version: string;
  /** The argument for `npm create`, which is the package name without `create-`. */
  readonly initializer: string;
  readonly flags: readonly string[];
}

const scaffolders: readonly Scaffolder[] = [
  {
    key: "ours",
    name: "create-service-bot",
    version: "latest",
    initializer: "service-bot",
    flags: ["--yes", "--no-install", "--no-git"],
  },
  {
    key: "peer",
    name: "create-vite",
    version: "9.3.0",
    initializer: "vite",
    flags: ["--template", "vanilla-ts", "--no-interactive"],
  },
];

const MEASURES = [
  { measure: "written", unit: "ms", words: "until the last file is written, without install" },
  { measure: "cold", unit: "ms", words: "npm create with an empty cache, without install" },
  { measure: "packed", unit: "bytes", words: "tarball" },
  { measure: "unpacked", unit: "bytes", words: "package on disk" },
  { measure: "packages", unit: "packages", words: "installed packages" },
] as const;

/** Each measure for both scaffolders. A ratio below 1 means that create-bot is faster or smaller. */
export const figures: readonly Figure[] = MEASURES.flatMap(({ measure, unit, words }) => [
  { name: `create-vite: ${words}`, sample: `peer ${measure}`, unit },
  { name: `ours: ${words}`, sample: `ours ${measure}`, unit, against: `peer ${measure}` },
]);

/** Installs both scaffolders from a registry. @param starts runs of each scaffolder; only the fastest counts */
export async function scaffoldersFrom(registryUrl: string, starts: number): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "service-bot-bench-"));
  const commands = await commandsOf("node24", "npm");
  const place = async () => {
    const own = await mkdtemp(join(folder, "home-"));
    return await emptyHome(own, registryUrl, commands);
  };
  const both = await Promise.all(scaffolders.map((one) => install(one, registryUrl, place)));
  const subjects: readonly Subject[] = [
    async () => Object.assign({}, ...both.map(({ key, sizes }) => name(key, sizes))),
    () => written(both, starts),
    ...scaffolders.map((one) => async () => name(one.key, { cold: await cold(one, place) })),
  ];
  const close = () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
  return { subjects, figures, close };
}

type Place = () => ReturnType<typeof emptyHome>;

interface Installed extends Scaffolder {
  readonly at: Awaited<ReturnType<Place>>;
  readonly command: string;
  readonly sizes: Samples;
}

async function install(
  scaffolder: Scaffolder,
  registryUrl: string,
  place: Place,
): Promise<Installed> {
  const { name, version } = scaffolder;
  const at = await place();
  await writeFile(join(at.cwd, "package.json"), '{ "private": true }');
  await must("npm", ["install", `${name}@${version}`, "--no-audit", "--no-fund"], at);
  const modules = join(at.cwd, "node_modules");
  const { bin }: { bin: Record<string, string> } = await json(join(modules, name, "package.json"));
  const lock: { packages: object } = await json(join(modules, ".package-lock.json"));
  const packages = Object.keys(lock.packages).length;
  const command = join(modules, name, bin[name] ?? "");
  const packed = await tarballBytes(scaffolder, registryUrl);
  return {
    ...scaffolder,
    at,
    command,
    sizes: { packages, packed, unpacked: await bytesIn(join(modules, name)) },
  };
}

async function tarballBytes({ name, version }: Scaffolder, registryUrl: string): Promise<number> {
  const about = await fetch(`${registryUrl}${name}`);
  const { versions, "dist-tags": tags } = (await about.json()) as {
    versions: Readonly<Record<string, { dist: { tarball: string } } | undefined>>;
    "dist-tags": Readonly<Record<string, string>>;
  };
  const tarball = versions[tags[version] ?? version]?.dist.tarball;
  if (tarball === undefined) throw new Error(`The registry has no ${name} ${version}`);
  return (await (await fetch(tarball)).arrayBuffer()).byteLength;
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) => stat(join(parentPath, name)));
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}

/**
 * Runs the installed commands in turn, the way npm does. Returns the fastest run of each in ms, because other work on
 * the machine can only slow a run down.
 */
async function written(installed: readonly Installed[], times: number): Promise<Samples> {
  const quickest: Record<string, number> = {};
  for (let run = 0; run < times; run += 1) {
    for (const { key, at, command, flags } of run % 2 === 0 ? installed : installed.toReversed()) {
      const target = await mkdtemp(join(at.cwd, "empty-"));
      const began = performance.now();
      await must("node", [command, "made", ...flags], { ...at, cwd: target });
      const taken = performance.now() - began;
      const sample = `${key} written`;
      quickest[sample] = Math.min(taken, quickest[sample] ?? Number.POSITIVE_INFINITY);
      await rm(target, { recursive: true });
    }
  }
  return quickest;
}

/** Runs `npm create` without a cache. Returns the duration in ms. */
async function cold({ initializer, version, flags }: Scaffolder, place: Place): Promise<number> {
  const at = await place();
  const began = performance.now();
  await must("npm", ["create", `${initializer}@${version}`, "made", "--", ...flags], at);
  return performance.now() - began;
}

async function must(
  command: string,
  args: readonly string[],
  at: Awaited<ReturnType<Place>>,
): Promise<void> {
  const { code, output } = await complete(command, args, at, 120_000);
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed:\n${output}`);
}

async function json<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, "utf8"));
}

function name(key: Scaffolder["key"], samples: Samples): Samples {
  const named = Object.entries(samples).map(([measure, value]) => [`${key} ${measure}`, value]);
  return Object.fromEntries(named);
}
