import type { AppView, LimitName, LimitView, Scope } from "../../../types.ts";

/** Scopes and their permissions (section 5 of the platform document). */
export const scopes: readonly (readonly [Scope, string])[] = [
  ["read", "read content, and all events except direct messages"],
  ["posts:write", "write posts, upload images"],
  ["comments:write", "write comments, upload images"],
  ["dm", "read and send direct messages, read their events, upload images"],
];

/** Labels of the limits (section 8 of the platform document). */
export const limitTexts: Readonly<Record<LimitName, string>> = {
  requestsPerMinute: "Requests per minute",
  dmsPerDay: "Direct messages per day",
  postsPerDay: "Posts per day",
  commentsPerDay: "Comments per day",
  uploadsPerDay: "Uploads per day",
};

export const limitNames: readonly LimitName[] = Object.keys(limitTexts) as LimitName[];

export function usage({ used, limit }: LimitView): string {
  return limit === null ? `${used} used, no limit` : `${used} of ${limit} used`;
}

export function revokeWarning(
  standard: boolean,
  { bot: { username }, tokens }: Pick<AppView, "bot" | "tokens">,
): string {
  if (standard) {
    return (
      "The platform printed this token on startup, and the bot has it in .env. " +
      "Without it, the bot cannot work. The platform creates a new token when it next starts."
    );
  }
  if (tokens === 1) {
    return `This is @${username}'s last token. Without a token, the bot cannot work.`;
  }
  return "Requests with this token get 401.";
}

export function fileName(snapshot: string, at: Date): string {
  const time = at.toISOString().slice(0, 19).replaceAll(":", "-");
  return `service-bot-${snapshot.replace(/[^\w.-]+/g, "-").slice(0, 60)}-${time}.db`;
}
