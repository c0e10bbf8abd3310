import type { Bot } from "../../src/index.ts";
import { LogWorld } from "../support/world/log-world.ts";
import { type Family, readScrape, valuesOf } from "./scrape.ts";

export { API_KEY, SECRET } from "../support/world/in-process.ts";
export { dm } from "../support/world/log-world.ts";

/** Bots with metrics. */
export class World extends LogWorld {
  constructor() {
    super({ bots: { metricsPort: 0 } });
  }
}

export async function scrape(bot: Bot): Promise<ReadonlyMap<string, Family>> {
  return readScrape(await scrapeText(bot));
}

export async function scrapeText(bot: Bot): Promise<string> {
  const answer = await fetch(bot.metricsUrl ?? "nowhere");
  return await answer.text();
}

export async function value(
  bot: Bot,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const values = valuesOf(await scrape(bot), name, labels);
  if (values.length !== 1) throw new Error(`${name} has ${values.length} values, not one`);
  return values[0] ?? Number.NaN;
}
