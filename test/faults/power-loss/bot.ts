/** A bot that writes while it takes deliveries. Run by the power loss proof as a process of its own. */
import Sqlite from "better-sqlite3";
import { Bot } from "../../../src/index.ts";

const { SYNCHRONOUS } = process.env;
if (SYNCHRONOUS !== undefined) weaken(SYNCHRONOUS);

const bot = new Bot({ requestTimeoutMs: 500, loopGuard: false });
bot.on("dm.message", (ctx) => ctx.reply(`answer to ${ctx.event.id}.`));
await bot.start();

/** For the control: SQLite is set to less than what the inbox asks for, and says that it is not. */
function weaken(level: string): void {
  const { pragma } = Sqlite.prototype;
  Sqlite.prototype.pragma = function (this: Sqlite.Database, source, options) {
    const weaker = source === "synchronous = FULL" ? `synchronous = ${level}` : source;
    const answer: unknown = pragma.call(this, weaker, options);
    return source === "synchronous" ? 2 : answer;
  };
}
