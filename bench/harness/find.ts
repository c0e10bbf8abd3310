import { readdirSync } from "node:fs";
import type { Benchmark } from "./benchmark.ts";

/** A benchmark, named after its file. For example, `bench/poll/catch-up.ts` is `poll/catch-up`. */
export interface Named {
  readonly name: string;
  readonly benchmark: Benchmark;
}

/** Folders of `bench/` without benchmarks. */
const OTHERS = ["harness", "node_modules", "peers", "processes", "results", "support"];

const root = new URL("../", import.meta.url);

export async function findBenchmarks(): Promise<Named[]> {
  const areas = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !OTHERS.includes(entry.name))
    .map(({ name }) => name);
  const names = areas.flatMap((area) =>
    readdirSync(new URL(`${area}/`, root))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => `${area}/${file.slice(0, -".ts".length)}`),
  );
  return await Promise.all(names.sort().map(load));
}

/**
 * Returns the benchmarks that match any of the words, or all benchmarks if there are no words.
 *
 * @throws {Error} if a word matches no benchmark
 */
export function choose(all: readonly Named[], words: readonly string[]): readonly Named[] {
  const fits = ({ name, benchmark }: Named, word: string) =>
    `${name} ${benchmark.title}`.toLowerCase().includes(word);
  const idle = words.find((word) => !all.some((named) => fits(named, word)));
  if (idle !== undefined) {
    const names = all.map(({ name }) => name).join(", ");
    throw new Error(`--only: no benchmark matches "${idle}". The benchmarks are: ${names}`);
  }
  return words.length === 0 ? all : all.filter((named) => words.some((word) => fits(named, word)));
}

async function load(name: string): Promise<Named> {
  const module: { readonly benchmark?: Benchmark } = await import(`${root.href}${name}.ts`);
  if (module.benchmark === undefined) throw new Error(`bench/${name}.ts exports no \`benchmark\``);
  return { name, benchmark: module.benchmark };
}
