import type { Bot, BotOptions } from "../../../src/index.ts";
import { FakeLog } from "../../poller/fake-log.ts";
import { type DeliveryOptions, InProcess } from "./in-process.ts";

type Answer = (url: string, init: RequestInit) => Promise<Response> | Response;

/** A platform that has little more than an event log, a manual clock and bots, all in one process. */
export class LogWorld extends InProcess {
  readonly events: FakeLog = new FakeLog(this.clock);
  /** Answers every request instead of the platform. */
  answer: Answer | undefined;
  /** How far the platform's clock is ahead, in ms. */
  platformAheadMs = 0;

  override readonly fetch: NonNullable<BotOptions["fetch"]> = async (url, init) => {
    const response = await (this.answer ?? this.#respond)(url, init);
    const date = new Date(this.clock.now() + this.platformAheadMs).toUTCString();
    response.headers.set("date", date);
    return response;
  };

  /** Starts a bot, which needs no handler for what its log and its status say. */
  async start(
    options: BotOptions = {},
    register: (bot: Bot) => unknown = () => undefined,
  ): Promise<Bot> {
    const bot = await this.startBot(register, options);
    await this.clock.advance(0);
    return bot;
  }

  override async deliver(
    bot: Pick<Bot, "handle">,
    events: object | readonly unknown[],
    options: DeliveryOptions = {},
  ): Promise<number> {
    const status = await super.deliver(bot, events, options);
    await this.clock.advance(0);
    return status;
  }

  readonly #respond = async (url: string): Promise<Response> => {
    const { pathname, searchParams } = new URL(url);
    if (!pathname.endsWith("/events")) return Response.json({ username: "bot" });
    const since = searchParams.get("since") ?? undefined;
    const limit = Number(searchParams.get("limit") ?? 50);
    const { events, cursor } = await this.events.events({ since, limit });
    return Response.json({ events, cursor });
  };
}

export function dm(id: string, more: object = {}): object {
  const from = { userId: "u", username: "ada", name: "Ada" };
  const payload = { conversationId: `c${id}`, from, excerpt: "hi" };
  return { id, type: "dm.message", payload, createdAt: "", ...more };
}
