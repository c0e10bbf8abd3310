import { readFileSync, watch } from "node:fs";
import { systemClock } from "../../core/clock.ts";

const FILE = ".env";

/** Time in ms in which an editor has written the file to its end. */
const SETTLE_MS = 100;

/** Calls `onChange` when the content of `.env` in the current folder is another one. Returns a function that ends it. */
export function watchDotEnv(onChange: () => void): () => void {
  let content = readDotEnvText();
  let cancel = () => {};
  const look = () => {
    const changed = readDotEnvText();
    if (changed === content) return;
    content = changed;
    onChange();
  };
  // The folder, because editors replace a file instead of writing it.
  const watcher = watch(".", (_event, name) => {
    if (name !== null && name !== FILE) return;
    cancel();
    cancel = systemClock.timer(SETTLE_MS, look);
  });
  return () => {
    cancel();
    watcher.close();
  };
}

function readDotEnvText(): string {
  try {
    return readFileSync(FILE, "utf8");
  } catch {
    return "";
  }
}
