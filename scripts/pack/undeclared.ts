import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import { filesIn } from "./files.ts";
import { packagesIn } from "./imports.ts";

export interface Declared {
  readonly dependencies?: Readonly<Record<string, string>>;
  /** All of them are optional. */
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Compares a package's compiled modules and declarations with its manifest. Modules may load optional peers only with
 * `import()`, and declarations may not need them.
 *
 * @param folder the compiled modules
 * @throws {Error} if a module needs a package that is not installed with this one, or if no module needs a dependency
 */
export async function refuseUndeclared(
  folder: string,
  { dependencies = {}, peerDependencies = {} }: Declared,
): Promise<void> {
  const needed = new Set<string>();
  const problems: string[] = [];
  for (const path of (await filesIn(folder)).filter((each) => /\.(?:js|d\.ts)$/.test(each))) {
    for (const { name, isLazy } of packagesIn(path, await readFile(path, "utf8"))) {
      needed.add(name);
      if (name in dependencies || (isLazy && name in peerDependencies)) continue;
      const remedy =
        name in peerDependencies
          ? "It is an optional peer, so load it with import()."
          : "Add it to the dependencies, or bundle it.";
      problems.push(`${relative(folder, path)} needs ${name}. ${remedy}`);
    }
  }
  const unused = Object.keys(dependencies).filter((name) => !needed.has(name));
  problems.push(...unused.map((name) => `No module needs the dependency ${name}. Remove it.`));
  if (problems.length > 0) throw new Error([...new Set(problems)].join("\n"));
}
