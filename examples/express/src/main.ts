import { createApp, createBot } from "./app.ts";

const bot = createBot();
await bot.start({ listen: false });
const server = createApp(bot).listen(Number(process.env["PORT"] ?? 3000));

async function stop(): Promise<void> {
  server.close(); // accepts no new connections
  await bot.stop(); // lets running handlers finish
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
