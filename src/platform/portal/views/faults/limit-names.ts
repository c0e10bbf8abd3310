import type { LimitName, LimitsView, LimitView } from "../../../types.ts";

interface LimitText {
  readonly label: string;
  /** What the bot gets when it is used up. */
  readonly code: string;
}

/** The limits as people call them (section 8). */
export const limitTexts: Readonly<Record<LimitName, LimitText>> = {
  requestsPerMinute: { label: "Requests per minute", code: "RATE_LIMITED" },
  dmsPerDay: { label: "Direct messages per day", code: "QUOTA_EXCEEDED" },
  postsPerDay: { label: "Posts per day", code: "QUOTA_EXCEEDED" },
  commentsPerDay: { label: "Comments per day", code: "QUOTA_EXCEEDED" },
  uploadsPerDay: { label: "Uploads per day", code: "QUOTA_EXCEEDED" },
};

export const limitNames: readonly LimitName[] = Object.keys(limitTexts) as LimitName[];

/** How much of a limit is used, in words. */
export function usage({ used, limit }: LimitView): string {
  if (limit === null) return `${used} used, no limit`;
  return used >= limit ? `${used} of ${limit} used: used up` : `${used} of ${limit} used`;
}

/** @throws {Error} no number that a limit can be */
export function typedLimit(typed: string): number {
  const value = Number(typed);
  if (typed.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= 1_000_000) {
    return value;
  }
  throw new Error("A limit is a whole number from 0 to 1000000; 0 lets nothing through.");
}

/** How long until something that is used is not any more, in milliseconds; undefined where nothing is used. */
export function untilReset(limits: LimitsView, now: number): number | undefined {
  const waits = limitNames
    .filter((name) => limits[name].used > 0)
    .map((name) => Math.max(0, Date.parse(limits[name].resetsAt) - now));
  return waits.length === 0 ? undefined : Math.min(...waits);
}
