import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** A file of a new bot. `path` is relative to the bot, with slashes on every system. */
export interface BotFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** Permissions, where the usual ones are too wide. */
  readonly mode?: number;
}

/** A file of a template: always a text, with marks such as `{{name}}` still in it. */
export interface TemplateFile extends BotFile {
  readonly content: string;
}

/** Reads a template, sorted by path, with the names that its files have in a bot. */
export function readTemplate(directory: string): TemplateFile[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const stored = relative(directory, file).split(sep).join("/");
      return { path: botPath(stored), content: readFileSync(file, "utf8") };
    });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * npm leaves dotfiles out of a package or renames them, and tools take a package.json anywhere for
 * a package; so a template stores `_gitignore` and `_package.json`.
 */
export function botPath(stored: string): string {
  return stored
    .split("/")
    .map((part) => (part === "_package.json" ? "package.json" : part.replace(/^_/, ".")))
    .join("/");
}
