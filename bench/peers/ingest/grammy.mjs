import { Bot, webhookCallback } from "grammy";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const botInfo = { id: 1, is_bot: true, first_name: "Bench", username: "bench_bot" };
const bot = new Bot("1:token", { botInfo });
bot.on("message", () => {});
serve(webhookCallback(bot, "http", { secretToken: SECRET }));
