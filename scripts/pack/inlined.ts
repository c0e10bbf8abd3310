import { readFile } from "node:fs/promises";

/** A package whose code a file of another one holds. */
export interface Inlined {
  readonly name: string;
  /** Undefined where the file does not tell. */
  readonly version: string | undefined;
}

/**
 * The packages that were bundled into these files before they were published, by the marks which rolldown leaves:
 * `//#region …/node_modules/.pnpm/NAME@VERSION/node_modules/NAME/…`. By name, each version once.
 */
export async function inlinedIn(files: readonly string[]): Promise<readonly Inlined[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const marks = texts.flatMap((text) => [...text.matchAll(/^[ \t]*\/\/ ?#region (.+)$/gm)]);
  const found = marks.map(([, path = ""]) => packageOf(path)).filter((each) => each !== undefined);
  const once = new Map(found.map((each) => [`${each.name} ${each.version}`, each]));
  return [...once].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** The package that a path belongs to; undefined for one of the holder's own. */
function packageOf(path: string): Inlined | undefined {
  const [, above = "", name] = /^(.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === undefined) return undefined;
  // Behind the version may stand those of its peers: `ajv-formats@3.0.1_ajv@8.18.0`.
  const [, version] = /\/?\.pnpm\/@?[^@/]+@([^_(/]+)[^/]*\/$/.exec(above) ?? [];
  return { name, version };
}
