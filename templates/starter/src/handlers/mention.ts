import { type Context, LimitError, UnavailableError } from "service-bot";
import { badge } from "../badge.ts";

/** Answers a mention with a picture, as a comment on the post. */
export async function onMention(ctx: Context<"mention">): Promise<void> {
  const { name, username } = ctx.payload.actor;
  await ctx.reply({
    text: `Hi ${name}, here I am.`,
    imageKeys: await upload(ctx, badge(username)),
  });
}

/** Returns the key of the uploaded picture, or none if the platform refuses it, because the answer matters more. */
async function upload(ctx: Context, picture: Uint8Array): Promise<string[]> {
  try {
    return [(await ctx.upload(picture)).key];
  } catch (error) {
    const full = error instanceof LimitError && error.code === "QUOTA_EXCEEDED";
    const closed = error instanceof UnavailableError && error.code === "NOT_CONFIGURED";
    // Any other error lets the runtime retry the handler.
    if (!full && !closed) throw error;
    ctx.log.warn({ code: error.code }, "answered without a picture");
    return [];
  }
}
