import type { LimitName, LimitView } from "../../../types.ts";

/** The limits of section 8, in words. */
export const limitTexts: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: "Requests per minute",
  dmsPerDay: "Direct messages per day",
  postsPerDay: "Posts per day",
  commentsPerDay: "Comments per day",
  uploadsPerDay: "Uploads per day",
};

export const limitNames: readonly LimitName[] = Object.keys(limitTexts) as LimitName[];

/** Describes how much of a limit is used. */
export function usage({ used, limit }: LimitView): string {
  return limit === null ? `${used} used, no limit` : `${used} of ${limit} used`;
}

/** @throws {Error} the text is no limit */
export function typedLimit(typed: string): number {
  const value = Number(typed);
  if (typed.trim() !== "" && Number.isInteger(value) && value >= 0 && value <= 1_000_000) {
    return value;
  }
  throw new Error("A limit is a whole number from 0 to 1000000.");
}
