import { ApiError, type Context, GiveUp } from "service-bot";

/** Refusals that stay what they are, however often one asks. */
const final: ReadonlySet<string> = new Set(["BLOCKED", "GROUP_UNSUPPORTED", "NOT_FOUND"]);

/**
 * Around every handler: what a retry cannot mend is put aside at once. Whatever else a handler throws is tried
 * again, with growing pauses, up to MAX_ATTEMPTS times.
 */
export async function giveUpEarly(_ctx: Context, next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof ApiError && final.has(error.code))) throw error;
    throw new GiveUp(`The platform refused for good: ${error.code}`, { cause: error });
  }
}
