import express, { type Express } from "express";
import { Bot, type BotOptions } from "service-bot";

export function createBot(options: BotOptions = {}): Bot {
  return new Bot(options).on("dm.message", (ctx) => ctx.reply("hello"));
}

export function createApp(bot: Bot): Express {
  const app = express();
  app.use(bot.middleware({ health: true }));
  app.use(express.json());
  app.get("/", (_request, response) => response.send("up"));
  return app;
}
