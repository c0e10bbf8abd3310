/** Maximum number of letters in which names may differ. */
const MAX_EDITS = 2;

/** Length from which names may differ in two letters, in characters. Shorter names may differ in only one. */
const LONG_NAME = 6;

/**
 * Returns the known name nearest to a misspelt name, or `undefined` if none is near. Ignores case, `-`, `_` and `.`.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const given = plain(name);
  const near = known
    .map((candidate) => ({ candidate, name: plain(candidate) }))
    // Skip names whose lengths rule them out, because comparing a long name letter by letter takes long.
    .filter(({ name }) => Math.abs(given.length - name.length) <= MAX_EDITS)
    .map(({ candidate, name }) => ({ candidate, name, edits: editsBetween(given, name) }))
    .filter(({ name, edits }) => edits <= (name.length < LONG_NAME ? 1 : MAX_EDITS))
    .sort((a, b) => a.edits - b.edits);
  return near[0]?.candidate;
}

/** Returns a sentence that suggests the nearest known name, with a leading space, or "" if no name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? "" : ` Did you mean ${near}?`;
}

/** Returns the number of letters to change, insert, delete or swap with a neighbour (Damerau-Levenshtein distance). */
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

/** Shorter names have too many near neighbours: HOST and HOSTS, TRACING and TRACKING. */
const MIN_LENGTH = 8;

/** Kubernetes and Docker links inject an address for each service: `REDIS_PORT=tcp://10.0.0.1:6379`. */
const INJECTED_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

/**
 * Finds environment variables whose names differ from a known name by one letter. Ignores variables without a value,
 * and names near a variable that is set, because such names may belong to another program.
 *
 * @param isSet returns whether a known variable has a value
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
 * Allows a difference of only one letter, because two letters make other words, such as DATABASE_SSL and WEBHOOK_AUTH.
 * The first letter must match, because a typo there is rare.
 */
function isNear(name: string, known: string): boolean {
  if (name[0] !== known[0] || Math.abs(name.length - known.length) > 1) return false;
  return editsBetween(name, known) <= 1;
}
