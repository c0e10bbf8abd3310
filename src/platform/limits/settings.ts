/** Limits of an app. Null: no limit. */
export interface LimitSettings {
  /** Requests in a minute of the clock, polling included (section 8). */
  readonly requestsPerMinute: number | null;
  /** Uploads in a day, UTC. */
  readonly uploadsPerDay: number | null;
  /** Posts in a day, UTC. */
  readonly postsPerDay: number | null;
  /** Comments in a day, UTC. */
  readonly commentsPerDay: number | null;
  /** Direct messages in a day, UTC. */
  readonly dmsPerDay: number | null;
}

/** The rate limit, or one of the daily quotas. */
export type LimitName = keyof LimitSettings;

/** A limit for a day. */
export type Quota = Exclude<LimitName, "requestsPerMinute">;

/** The same for each limit. */
export function eachLimit<T>(value: T): { readonly [K in LimitName]: T } {
  return {
    requestsPerMinute: value,
    uploadsPerDay: value,
    postsPerDay: value,
    commentsPerDay: value,
    dmsPerDay: value,
  };
}

export const NO_LIMITS: LimitSettings = eachLimit(null);

/** The largest number of a limit. */
export const MAX_LIMIT = 1_000_000;

export const DAY_MS = 86_400_000;

/** Returns the problems of limits that were set from code, in sentences with their names. */
export function limitProblems(limits: Partial<LimitSettings>): string[] {
  return Object.entries(limits)
    .filter(([, value]) => value !== null && !isLimit(value))
    .map(([name]) => `limits.${name}: must be null or a whole number from 0 to ${MAX_LIMIT}`);
}

function isLimit(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT;
}
