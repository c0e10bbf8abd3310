import { type Context, LimitError, UnavailableError } from "service-bot";
import { badge } from "../badge.ts";

/** Someone mentioned the bot in a post or a comment. The answer is a comment on that post, with a picture. */
export async function onMention(ctx: Context<"mention">): Promise<void> {
  const { name, username } = ctx.payload.actor;
  await ctx.reply({
    text: `Hi ${name}, here I am.`,
    imageKeys: await upload(ctx, badge(username)),
  });
}

/** The key of the picture; none where the platform takes no more: the answer matters, its picture does not. */
async function upload(ctx: Context, picture: Uint8Array): Promise<string[]> {
  try {
    return [(await ctx.upload(picture)).key];
  } catch (error) {
    const full = error instanceof LimitError && error.code === "QUOTA_EXCEEDED";
    const closed = error instanceof UnavailableError && error.code === "NOT_CONFIGURED";
    // Anything else is thrown on, and the handler is tried again.
    if (!full && !closed) throw error;
    ctx.log.warn({ code: error.code }, "answered without a picture");
    return [];
  }
}
