import { readFile } from "node:fs/promises";

/** A package that is bundled in a file of another package. */
export interface Inlined {
  readonly name: string;
  /** `undefined` if the file does not name it. */
  readonly version: string | undefined;
}

/**
 * Returns the packages that were bundled into published files. Rolldown marks them: `//#region
 * …/node_modules/.pnpm/NAME@VERSION/node_modules/NAME/…`. The result is sorted by name and has each version once.
 */
export async function inlinedIn(files: readonly string[]): Promise<readonly Inlined[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const marks = texts.flatMap((text) => [...text.matchAll(/^[ \t]*\/\/ ?#region (.+)$/gm)]);
  const found = marks.map(([, path = ""]) => packageOf(path)).filter((each) => each !== undefined);
  const once = new Map(found.map((each) => [`${each.name} ${each.version}`, each]));
  return [...once].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

/** Returns the package that a path belongs to. `undefined` for a file of the bundling package. */
function packageOf(path: string): Inlined | undefined {
  const [, above = "", name] = /^(.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === undefined) return undefined;
  // pnpm may append the versions of peers: `ajv-formats@3.0.1_ajv@8.18.0`.
  const [, version] = /\/?\.pnpm\/@?[^@/]+@([^_(/]+)[^/]*\/$/.exec(above) ?? [];
  return { name, version };
}
