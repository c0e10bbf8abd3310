import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { BESIDE } from "../../core/database-files.ts";
import { messageOf, ServiceBotError } from "../../errors.ts";
import { identityOf } from "./holder.ts";
import { giveName, refuseToReplace } from "./place-file.ts";

/**
 * Part of the name of a restored inbox that waits for its place. It is followed by the time of the restore. Such a file
 * is complete, so a process that finds one can finish the restore.
 */
export const EXCHANGE = ".restoring-";

/** Part of the name of an old inbox that a restore has moved. It is followed by the time of the restore. */
const ASIDE = ".before-";

/** A restore that ended before it had exchanged the files, and what the next process has made of it. */
export interface FinishedExchange {
  /** `undone`: the old inbox is still in its place. `finished`: the backup has taken its place. */
  readonly outcome: "finished" | "undone";
  /** Path to which the old files were moved. `undefined` if there were none. */
  readonly movedTo: string | undefined;
}

/** Returns the current time for a file name, such as `20260301T093000Z`. */
export function timestamp(): string {
  return new Date().toISOString().replace(/[-:]|\.\d+/g, "");
}

/**
 * Returns the suffixes of the files that exist. A WAL may contain acknowledged events even if its database is missing.
 */
export function whatIsThere(place: string): string[] {
  return ["", ...BESIDE].filter((suffix) => existsSync(`${place}${suffix}`));
}

/**
 * Replaces an inbox with a draft. The old files are moved, and moved back if the draft cannot take their place.
 *
 * @param draft a complete inbox whose name contains {@link EXCHANGE}
 * @returns the path to which the old files were moved. `undefined` if there were none
 * @throws {ServiceBotError} INBOX_UNUSABLE
 */
export function exchange(draft: string, place: string): string | undefined {
  const aside = `${place}${ASIDE}${stampOf(draft, place)}`;
  const moved: string[] = [];
  try {
    for (const suffix of whatIsThere(place)) {
      renameSync(`${place}${suffix}`, `${aside}${suffix}`);
      moved.push(suffix);
    }
    giveName(draft, place);
  } catch (error) {
    // The database comes last, because the next start finishes the exchange until it is back.
    for (const suffix of moved.reverse()) moveBack(`${aside}${suffix}`, `${place}${suffix}`);
    rmSync(draft, { force: true });
    throw error;
  }
  return ifThere(aside);
}

/** Moves the files beside a database that belong to another one. */
export function moveBesideAside(place: string): void {
  const aside = `${place}${ASIDE}${timestamp()}`;
  for (const suffix of whatIsThere(place)) {
    if (suffix !== "") renameSync(`${place}${suffix}`, `${aside}${suffix}`);
  }
}

/**
 * Ends a restore whose process died while it exchanged the files. The caller holds the lock.
 *
 * @returns `undefined` if there was none
 * @throws {ServiceBotError} INBOX_UNUSABLE
 */
export function finishExchange(place: string): FinishedExchange | undefined {
  const draft = findDraft(place);
  if (draft === undefined) return undefined;
  const placed = identityOf(place);
  if (placed === undefined) return { outcome: "finished", movedTo: exchange(draft, place) };
  // The draft has two names for a moment.
  const isPlaced = placed === identityOf(draft);
  rmSync(draft);
  return isPlaced
    ? { outcome: "finished", movedTo: ifThere(`${place}${ASIDE}${stampOf(draft, place)}`) }
    : { outcome: "undone", movedTo: undefined };
}

function stampOf(draft: string, place: string): string {
  return draft.slice(place.length + EXCHANGE.length);
}

function ifThere(place: string): string | undefined {
  return whatIsThere(place).length === 0 ? undefined : place;
}

/** Returns the draft of an interrupted exchange, and deletes incomplete drafts. */
function findDraft(place: string): string | undefined {
  const [folder, prefix] = [dirname(place), `${basename(place)}${EXCHANGE}`];
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  const [incomplete, complete] = [/\.part-\d+/, /^\d+T\d+Z$/];
  for (const name of names) if (incomplete.test(name)) rmSync(join(folder, name));
  const draft = names.find((name) => complete.test(name.slice(prefix.length)));
  return draft === undefined ? undefined : join(folder, draft);
}

/** @throws {ServiceBotError} INBOX_UNUSABLE, with the path of the old inbox */
function moveBack(from: string, to: string): void {
  try {
    refuseToReplace(to);
    renameSync(from, to);
  } catch (error) {
    const message =
      `Cannot put the backup in place. The old inbox is now at ${from}, and cannot be moved back ` +
      `(${messageOf(error)}). The next start of the bot finishes the restore.`;
    throw new ServiceBotError("INBOX_UNUSABLE", message, { cause: error });
  }
}
