/** A bot whose handlers make every possible mistake. The first word of a message selects the mistake. */
import { Bot, GiveUp } from "../../../src/index.ts";
import { limitFile } from "../../faults/bot/file-limit.ts";
import { Spans } from "../../tracing/spans.ts";

const { BOT_SAYS = "", IMAGE = "", MIN_FREE_BYTES, ...env } = process.env;
const { SERVICE_API_KEY, SERVICE_WEBHOOK_SECRET, DATABASE_URL, PGPASSWORD } = env;
const secrets = JSON.stringify([
  ...[SERVICE_API_KEY, SERVICE_WEBHOOK_SECRET?.split(","), DATABASE_URL, PGPASSWORD],
]);
const image = Buffer.from(IMAGE, "base64");
const spans = new Spans();
process.on("exit", () => console.error(spans.text()));
const setDisk = limitFile();
process.on("SIGUSR2", () => setDisk("free"));

const bot = new Bot({
  requestTimeoutMs: 10_000,
  requestRetries: 0,
  leaseMs: 5_000,
  retry: { baseMs: 10, maxMs: 50 },
  maxBodyBytes: 20_000,
  ...(MIN_FREE_BYTES === undefined ? {} : { minFreeBytes: Number(MIN_FREE_BYTES) }),
  onSwitch: () => {
    throw new Error("nobody is told");
  },
});
bot.use(async (ctx, next) => {
  ctx.log.info({ event: ctx.event, payload: ctx.payload }, "got");
  await next();
});
bot.on(["dm.message", "mention", "comment"], async (ctx) => {
  const { excerpt = "" } = ctx.payload;
  const how = /\b(?:[a-z]+)\b/.exec(excerpt.replace(/^@\w+ /, ""))?.[0];
  switch (how) {
    case "answer":
    case "refused":
    case "away":
      await ctx.reply(`${how} ${BOT_SAYS}`);
      break;
    case "picture":
      await ctx.reply({ text: `picture ${BOT_SAYS}`, images: [image] });
      break;
    case "upload":
      await ctx.client.upload(`https://images.example/?${encodeURIComponent(excerpt)}`);
      break;
    case "search":
      await ctx.client.search({ text: excerpt });
      break;
    case "throw":
      throw new TypeError(`cannot understand "${excerpt}"`);
    case "json":
      throw new Error(JSON.stringify(ctx.payload), { cause: new Error(excerpt) });
    case "named":
      throw Object.assign(new Error("x"), { name: excerpt, code: excerpt, detail: excerpt });
    case "reject":
      return Promise.reject(excerpt);
    case "giveup":
      throw new GiveUp(`it makes no sense: ${excerpt}`);
    case "step":
      await ctx.step(`charge for "${excerpt}"`, () => {
        throw Object.assign(new Error(`no answer to ${excerpt}`), { code: "ECONNRESET" });
      });
      break;
    case "secrets":
      ctx.log.warn(`they are ${secrets}`);
      throw new Error(`they are ${secrets}`);
    case "fill":
      setDisk("full");
      throw new GiveUp(`there is no room for ${excerpt} ${"x".repeat(5_000)}`);
    case "observer":
      throw new Error("an observer is told");
    case "crash":
      process.exit(9);
  }
});
bot.on("follow", () => new Promise(() => undefined), { timeoutMs: 200 });
bot.onError((_error, ctx) => {
  if (JSON.stringify(ctx.payload).includes("observer")) {
    throw new Error(`cannot report ${JSON.stringify(ctx.payload)}`);
  }
});
await bot.start();
