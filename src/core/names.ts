/** Names of at least this many characters may differ in two of them, shorter ones in one. */
const LONG_NAME = 6;

/**
 * Finds the known name that a misspelt one stands for. Case, `-`, `_` and `.` do not count.
 *
 * @returns the nearest known name; `undefined` if none is near
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const near = known
    .map((candidate) => ({ candidate, edits: editsBetween(plain(name), plain(candidate)) }))
    .filter(({ candidate, edits }) => edits <= (plain(candidate).length < LONG_NAME ? 1 : 2))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate;
}

/** Suggests the nearest known name in a sentence that begins with a space; "" if no name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

/** Counts the letters to change, add, leave out or swap with their neighbour (Damerau-Levenshtein). */
export function editsBetween(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const changed = at(last, column - 1) + (isSame ? 0 : 1);
      const moved = row > 1 && column > 1 && isSwapped ? at(beforeLast, column - 2) + 1 : changed;
      next.push(Math.min(changed, moved, at(last, column) + 1, at(next, column - 1) + 1));
    }
    [beforeLast, last] = [last, next];
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_.]/g, "");
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Names shorter than this are near too many others: HOST and HOSTS, TRACING and TRACKING. */
const MIN_LENGTH = 8;

/** Kubernetes and Docker links inject addresses for each service: `REDIS_PORT=tcp://10.0.0.1:6379`. */
const INJECTED_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** A variable of the environment with nearly the name of a variable of a bot. */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

/**
 * Finds variables of the environment whose name differs from a known one in one letter. Neither a variable without a
 * value counts, nor one whose known variable is set: it may belong to another program.
 *
 * @param isSet whether a known variable has a value already
 */
export function misspeltVariables(
  env: Environment,
  known: readonly string[],
  isSet: (name: string) => boolean,
): MisspeltVariable[] {
  const candidates = known.filter((name) => name.length >= MIN_LENGTH);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    if (known.includes(name) || value.trim() === "" || INJECTED_ADDRESS.test(value)) return [];
    const meant = candidates.find((candidate) => isNear(name.toUpperCase(), candidate));
    return meant === undefined || isSet(meant) ? [] : [{ name, meant }];
  });
}

/**
 * One letter alone counts, because two make other words: DATABASE_SSL, WEBHOOK_AUTH. A slip rarely hits the first letter,
 * and names that differ there are words of their own.
 */
function isNear(name: string, known: string): boolean {
  if (name[0] !== known[0] || Math.abs(name.length - known.length) > 1) return false;
  return editsBetween(name, known) <= 1;
}
