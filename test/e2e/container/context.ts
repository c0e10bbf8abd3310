import { cpSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, matchesGlob } from "node:path";

/** What `docker build` gets to see of a folder: all but what `.dockerignore` names. */
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
    if (unknown !== undefined) throw new Error(`this test does not know the pattern ${unknown}`);
  }

  /** The files and folders at the top that a pattern of COPY names. */
  find(pattern: string): string[] {
    return readdirSync(this.folder)
      .filter((name) => matchesGlob(name, pattern) && !this.#isIgnored(name))
      .map((name) => join(this.folder, name));
  }

  #isIgnored(name: string): boolean {
    return this.#ignored.some((pattern) => matchesGlob(name, pattern));
  }
}

/** As COPY does it: of a folder the content, and a file under its name where the target is a folder. */
export function copyInto(sources: readonly string[], target: string, asFolder: boolean): void {
  for (const source of sources) {
    const isFile = statSync(source).isFile();
    const name = isFile && asFolder ? join(target, source.split("/").at(-1) ?? "") : target;
    cpSync(source, name, { recursive: true, verbatimSymlinks: true });
  }
}
