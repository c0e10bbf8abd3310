import { Bot, type BotOptions } from "service-bot";
import { onHelp, onRoll } from "./commands.ts";
import { onComment } from "./handlers/comment.ts";
import { onDmMessage } from "./handlers/dm-message.ts";
import { onFollow } from "./handlers/follow.ts";
import { onLike } from "./handlers/like.ts";
import { onMention } from "./handlers/mention.ts";
import { onQuote } from "./handlers/quote.ts";
import { onReply } from "./handlers/reply.ts";
import { onRepost } from "./handlers/repost.ts";
import { onUnknown } from "./handlers/unknown.ts";

/** Creates the bot with its handlers. Options override the environment, for example in tests. */
export function createBot(options: BotOptions = {}): Bot {
  const bot = new Bot(options);
  // The first matching command or pattern handles a message or mention. Handlers of bot.on get the rest.
  bot.hears("roll", onRoll);
  bot.command("help", { description: "lists the commands" }, (ctx) => onHelp(ctx, bot.commands));
  bot.on("dm.message", onDmMessage);
  bot.on("mention", onMention);
  bot.on("comment", onComment);
  bot.on("reply", onReply);
  bot.on("follow", onFollow);
  bot.on("like", onLike);
  bot.on("repost", onRepost);
  bot.on("quote", onQuote);
  bot.onUnknown(onUnknown);
  return bot;
}
