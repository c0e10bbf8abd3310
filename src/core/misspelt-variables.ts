import { editsBetween } from "./names.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Names shorter than this are near too many others: HOST and HOSTS, TRACING and TRACKING. */
const MIN_LENGTH = 8;

/** Kubernetes and Docker links inject addresses for each service: `REDIS_PORT=tcp://10.0.0.1:6379`. */
const INJECTED_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** A variable of the environment that is no variable of a bot, but nearly one. */
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
