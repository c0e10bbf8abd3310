import { createBot } from "./bot.ts";

await createBot().start();
