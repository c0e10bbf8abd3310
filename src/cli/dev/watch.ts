import { type FSWatcher, readdirSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { readSmallFile } from "../../core/small-file.ts";

const DOT_ENV = ".env";

/** Matches source files. Editors create hidden lock files, such as `.#main.ts`, so hidden files do not match. */
const SOURCE = /^[^.].*\.(?:[cm]?[jt]sx?|json)$/;

const SOURCE_FOLDER = /^(?!node_modules$|data$)[^.]/;

/** Wait after a change, in ms. Lets an editor finish writing a file, and Git all files. */
const SETTLE_MS = 100;

/**
 * Calls `onChange` when `.env` changes, or a source file in the folder of `entry` or below. Returns a function that
 * stops watching.
 *
 * `node --watch` would miss changes, because it watches files and most editors replace a file instead of writing to it.
 */
export function watchBot(entry: string, onChange: (reason: string) => void): () => void {
  const root = dirname(entry);
  const changed = new Set<string>();
  let watchers: readonly FSWatcher[] = [];
  let dotEnv = readDotEnv();
  let cancel = () => {};
  const watchFolders = () => {
    const previous = watchers;
    watchers = [...new Set([".", ...foldersBelow(root)])].flatMap((folder) =>
      watchFolder(folder, (name) => {
        if (SOURCE.test(name) && (folder !== "." || root === ".")) changed.add(join(folder, name));
        // A name without a dot may be a new folder.
        else if (name !== DOT_ENV && name.includes(".")) return;
        cancel();
        cancel = systemClock.timer(SETTLE_MS, settle);
      }),
    );
    // Close the old watchers last, so that no change is missed in between.
    for (const watcher of previous) watcher.close();
  };
  const settle = () => {
    watchFolders();
    const content = readDotEnv();
    if (content !== dotEnv) changed.add(DOT_ENV);
    dotEnv = content;
    const [first, ...others] = changed;
    changed.clear();
    if (first === undefined) return;
    onChange(others.length === 0 ? `${first} changed` : `${others.length + 1} files changed`);
  };
  watchFolders();
  return () => {
    cancel();
    for (const watcher of watchers) watcher.close();
  };
}

function foldersBelow(folder: string): readonly string[] {
  try {
    const below = readdirSync(folder, { withFileTypes: true })
      .filter((file) => file.isDirectory() && SOURCE_FOLDER.test(file.name))
      .flatMap(({ name }) => foldersBelow(join(folder, name)));
    return [folder, ...below];
  } catch {
    return [];
  }
}

/** Returns an empty list if the folder cannot be watched, for example because it was removed. */
function watchFolder(folder: string, onName: (name: string) => void): readonly FSWatcher[] {
  try {
    const watcher = watch(folder, (_event, name) => onName(name ?? DOT_ENV));
    return [watcher.on("error", () => watcher.close())];
  } catch {
    return [];
  }
}

function readDotEnv(): string {
  try {
    return readSmallFile(DOT_ENV);
  } catch {
    return "";
  }
}
