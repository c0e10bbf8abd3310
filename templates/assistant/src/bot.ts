import { Bot, type BotOptions, ServiceBotError } from "service-bot";
import { z } from "zod";

/** State of a conversation. It starts with these defaults. */
const state = z.object({ notes: z.array(z.string()).default([]) });

const reminder = z.object({ text: z.string() });

/** Creates the bot with its handlers. Options override the environment, for example in tests. */
export function createBot(options: BotOptions = {}): Bot {
  const bot = new Bot({ ...options, state });

  bot.command("help", { description: "lists the commands" }, async (ctx) => {
    const lines = bot.commands.map(({ name, description }) => `/${name} ${description}`);
    await ctx.reply(lines.join("\n"));
  });

  bot.command("note", { description: "TEXT keeps a note" }, async (ctx) => {
    if (ctx.command.args === "") return void (await ctx.reply("Write /note milk."));
    const { notes } = await ctx.state();
    notes.push(ctx.command.args);
    await ctx.reply(`Note ${notes.length} is kept.`);
  });

  bot.command("notes", { description: "shows the newest notes here" }, async (ctx) => {
    const { notes } = await ctx.state();
    const lines = notes.map((note, index) => `${index + 1}. ${note}`).slice(-10);
    await ctx.reply(lines.join("\n") || "No notes.");
  });

  bot.command("forget", { description: "deletes the notes and reminders here" }, async (ctx) => {
    await ctx.clearState();
    const reminders = await ctx.cancel("remind");
    await ctx.reply(`Deleted the notes, and ${reminders} reminders.`);
  });

  bot.command("remind", { description: "10m TEXT reminds you" }, async (ctx) => {
    const [, span, text] = /^(\S+)\s+(\S.*)$/s.exec(ctx.command.args) ?? [];
    try {
      // The timer belongs to this event, so a retry of the handler does not set a second one.
      await ctx.later("remind", span ?? "", { text });
    } catch (error) {
      if (!(error instanceof ServiceBotError) || error.code !== "INVALID_OPTION") throw error;
      await ctx.reply("Write /remind 10m tea, or 1h30m, or 2d.");
      return;
    }
    await ctx.reply(`In ${span}: ${text}`);
  });

  bot.onTimer("remind", reminder, async (ctx) => {
    await ctx.reply(`Reminder: ${ctx.payload.data.text}`);
  });

  // Each morning is a single event, regardless of restarts and the number of instances.
  bot.cron("daily", "0 9 * * *", { timeZone: "Europe/Paris" }, async (ctx) => {
    await ctx.post(`Good morning! Today is ${ctx.payload.dueAt.slice(0, 10)}.`);
  });

  bot.on("dm.message", (ctx) => ctx.reply("Write /help."));

  return bot;
}
