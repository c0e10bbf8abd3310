import { type Context, LimitError, UnavailableError } from "service-bot";
import { badge } from "../badge.ts";

/** Answers a mention with a comment that has a picture. */
export async function onMention(ctx: Context<"mention">): Promise<void> {
  const { name, username } = ctx.payload.actor;
  await ctx.reply({
    text: `Hi ${name}, here I am.`,
    imageKeys: await upload(ctx, badge(username)),
  });
}

/**
 * Uploads a picture and returns its key. Returns no key if the platform refuses the upload, because the answer matters
 * more.
 */
async function upload(ctx: Context, picture: Uint8Array): Promise<string[]> {
  try {
    return [(await ctx.upload(picture)).key];
  } catch (error) {
    const full = error instanceof LimitError && error.code === "QUOTA_EXCEEDED";
    const closed = error instanceof UnavailableError && error.code === "NOT_CONFIGURED";
    // After any other error, the bot retries the handler.
    if (!full && !closed) throw error;
    ctx.log.warn({ code: error.code }, "answered without a picture");
    return [];
  }
}
