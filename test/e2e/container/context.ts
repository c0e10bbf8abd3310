import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, matchesGlob } from "node:path";

/** The files in a folder that `docker build` can access, without those listed in `.dockerignore`. */
export class BuildContext {
  readonly folder: string;
  readonly #ignored: readonly string[];

  constructor(folder: string) {
    this.folder = folder;
    this.#ignored = readFileSync(join(folder, ".dockerignore"), "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "" && !line.startsWith("#"));
    const unknown = this.#ignored.find((pattern) => /^!|\/|\*\*/.test(pattern));
    if (unknown !== undefined) throw new Error(`this test does not support the pattern ${unknown}`);
  }

  find(pattern: string): string[] {
    return readdirSync(this.folder)
      .filter((name) => matchesGlob(name, pattern) && !this.#isIgnored(name))
      .map((name) => join(this.folder, name));
  }

  #isIgnored(name: string): boolean {
    return this.#ignored.some((pattern) => matchesGlob(name, pattern));
  }
}

/** Copies as COPY does: a folder's content, and a file under its own name if the target is a folder. */
export function copyInto(sources: readonly string[], target: string, asFolder: boolean): void {
  for (const source of sources) {
    const isFile = statSync(source).isFile();
    const name = isFile && asFolder ? join(target, source.split("/").at(-1) ?? "") : target;
    cpSync(source, name, { recursive: true, verbatimSymlinks: true });
  }
}
