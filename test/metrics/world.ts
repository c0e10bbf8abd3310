import { onTestFinished } from "vitest";
import { Bot, type BotOptions } from "../../src/index.ts";
import { SIGNATURE_HEADER, sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { FakeLog } from "../poller/fake-log.ts";
import { type Family, readScrape, valuesOf } from "./scrape.ts";

export const SECRET = "whsec_of_this_test";
export const API_KEY = "for-tests-only";

/** A bot with metrics and a manual clock. Tests may replace the platform's responses. */
export class World {
  readonly clock: ManualClock = new ManualClock(1_800_000_000_000);
  readonly log: FakeLog = new FakeLog(this.clock);
  answer: ((url: string, init: RequestInit) => Promise<Response> | Response) | undefined;
  /** How far the platform's clock is ahead, in ms. */
  platformAheadMs = 0;

  async start(options: BotOptions = {}, register: (bot: Bot) => void = none): Promise<Bot> {
    const bot = new Bot({
      env: {},
      baseUrl: "http://platform.test",
      apiKey: API_KEY,
      webhookSecret: SECRET,
      databaseUrl: "file::memory:",
      logLevel: "silent",
      fetch: (url, init) => this.#fetch(url, init),
      clock: this.clock,
      random: () => 0.5,
      requestRetries: 0,
      metricsPort: 0,
      ...options,
    });
    register(bot);
    await bot.start({ listen: false });
    onTestFinished(() => bot.stop());
    await this.clock.advance(0);
    return bot;
  }

  async deliver(bot: Bot, events: readonly object[], secret: string = SECRET): Promise<number> {
    const body = JSON.stringify({ events });
    const headers = { [SIGNATURE_HEADER]: sign(body, secret, this.clock.now() / 1000) };
    return await this.post(bot, body, headers);
  }

  async post(bot: Bot, body: string, headers: Record<string, string>): Promise<number> {
    const request = new Request("http://bot.test/webhook", { method: "POST", body, headers });
    const { status } = await bot.handle(request);
    await this.clock.advance(0);
    return status;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const answer = await (this.answer ?? this.#log)(url, init);
    const date = new Date(this.clock.now() + this.platformAheadMs).toUTCString();
    answer.headers.set("date", date);
    return answer;
  }

  readonly #log = async (url: string): Promise<Response> => {
    const since = new URL(url).searchParams.get("since");
    const { events, cursor } = await this.log.events(since === null ? {} : { since });
    return Response.json({ events, cursor });
  };
}

function none(): void {}

export function dm(id: string, more: object = {}): object {
  const from = { userId: "u", username: "ada", name: "Ada" };
  const payload = { conversationId: `c${id}`, from, excerpt: "hi" };
  return { id, type: "dm.message", payload, createdAt: "", ...more };
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
