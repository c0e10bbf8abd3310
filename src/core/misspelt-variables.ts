import { editsBetween } from "./names.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of this prefix belong to the bot. */
const OWN_PREFIX = "SERVICE_";

/** Names shorter than this are near too many others: HOST and HOSTS, TRACING and TRACKING. */
const MIN_LENGTH = 8;

/** Names of at least this many characters may differ in two of them, shorter ones in one. */
const LONG_NAME = 10;

/** Kubernetes and Docker links inject addresses for each service: `REDIS_PORT=tcp://10.0.0.1:6379`. */
const INJECTED_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** A variable of the environment that is no variable of a bot, but nearly one. */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

/**
 * Finds variables of the environment that nearly have the name of a known one. A variable without a value does not
 * count. Where the known variable itself is set, only a name that begins with `SERVICE_` counts, because any other
 * may belong to another program.
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
    if (meant === undefined) return [];
    const isForeign = isSet(meant) && (!name.startsWith(OWN_PREFIX) || isSameVariable(name, meant));
    return isForeign ? [] : [{ name, meant }];
  });
}

/** A slip rarely hits the first letter, and names that differ there are words of their own. */
function isNear(name: string, known: string): boolean {
  const max = known.length < LONG_NAME ? 1 : 2;
  if (name[0] !== known[0] || Math.abs(name.length - known.length) > max) return false;
  return editsBetween(name, known) <= max;
}

/** Windows takes variables in any case. */
function isSameVariable(name: string, known: string): boolean {
  return name.toUpperCase() === known;
}
