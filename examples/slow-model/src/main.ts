import { setTimeout } from "node:timers/promises";
import { createBot, type Model } from "./bot.ts";

/** Stands for a language model. Replace it with a request to yours. */
const model: Model = {
  async answer(prompt, signal) {
    await setTimeout(5_000, undefined, { signal });
    return `I thought for five seconds about "${prompt}".`;
  },
};

await createBot(model).start();
