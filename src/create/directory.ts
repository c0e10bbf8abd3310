import { basename, join, resolve } from "node:path";
import { CreateError, UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import { packageName, refuseDevice } from "./name.ts";
import { findObstacles, type Obstacle, refuseReadOnly } from "./obstacles.ts";

type Place = Pick<Io, "cwd" | "platform">;

/**
 * Checks the directory of a bot: whether a bot works there, and in a clone on Windows.
 *
 * @param dir as it was typed
 * @returns its absolute path
 * @throws {UsageError}
 */
export function checkDirectory(dir: string, { cwd, platform }: Place): string {
  const target = resolve(cwd, dir);
  if (/\p{Cc}/u.test(target)) {
    throw new UsageError("The directory's name holds a control character. Choose another name.");
  }
  // Elsewhere the directories above are there already, and none of our business.
  const parts = platform === "win32" ? partsOf(dir) : [basename(target)];
  for (const part of parts) refuseUnportable(part);
  const delimiter = platform === "win32" ? ";" : ":";
  if (target.includes(delimiter)) {
    throw new UsageError(
      `The path ${target} holds a "${delimiter}", which separates the entries of PATH: the bot's commands ` +
        "would not be found. Choose another directory.",
    );
  }
  return target;
}

/**
 * What keeps every bot out of a directory. Every template has a package.json: where there is one, no choice of
 * another could help.
 *
 * @throws {UsageError} the directory, or the name that a bot would have there, is none
 * @throws {CreateError} nothing can be written there
 */
export function obstacleToAll(dir: string, place: Place): Obstacle | undefined {
  const target = checkDirectory(dir, place);
  packageName(basename(target));
  refuseReadOnly(target);
  return findObstacles(target, ["package.json"])[0];
}

/** Why no bot can go to a directory, in words. */
export function directoryProblem(dir: string, place: Place): string | undefined {
  try {
    const obstacle = obstacleToAll(dir, place);
    if (obstacle === undefined) return undefined;
    return `${join(dir, obstacle.path)} ${obstacle.reason}. Choose another directory.`;
  } catch (error) {
    if (error instanceof UsageError || error instanceof CreateError) return error.message;
    throw error;
  }
}

/** The parts of a path that name something: neither the drive nor `.` and `..`. */
function partsOf(dir: string): string[] {
  const parts = dir.replace(/^[a-z]:/i, "").split(/[\\/]/);
  return parts.filter((part) => !["", ".", ".."].includes(part));
}

function refuseUnportable(part: string): void {
  refuseDevice(part);
  const [forbidden] = /[<>:"|?*\\]/.exec(part) ?? [];
  if (forbidden !== undefined) {
    throw new UsageError(
      `Windows takes no ${forbidden} in a name, as in ${JSON.stringify(part)}. Choose another directory.`,
    );
  }
  if (/[. ]$/.test(part)) {
    throw new UsageError(
      `Windows drops the last character of ${JSON.stringify(part)}. Choose a name that ends neither with a dot nor with a blank.`,
    );
  }
}
