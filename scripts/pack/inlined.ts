import { readFile } from "node:fs/promises";

export interface Inlined {
  readonly name: string;
  /** `undefined` if the file does not name the version. */
  readonly version: string | undefined;
}

/**
 * Returns the packages that were bundled into published files, sorted by name, each version once. Rolldown marks them
 * with `//#region …/node_modules/.pnpm/NAME@VERSION/node_modules/NAME/…`.
 */
export async function inlinedIn(files: readonly string[]): Promise<readonly Inlined[]> {
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const marks = texts.flatMap((text) => [...text.matchAll(/^[ \t]*\/\/ ?#region (.+)$/gm)]);
  const found = marks.map(([, path = ""]) => packageOf(path)).filter((each) => each !== undefined);
  const once = new Map(found.map((each) => [`${each.name} ${each.version}`, each]));
  return [...once].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each);
}

function packageOf(path: string): Inlined | undefined {
  const [, above = "", name] = /^(.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
  if (name === undefined) return undefined;
  // pnpm may append the versions of peers, as in `ajv-formats@3.0.1_ajv@8.18.0`.
  const [, version] = /\/?\.pnpm\/@?[^@/]+@([^_(/]+)[^/]*\/$/.exec(above) ?? [];
  return { name, version };
}
