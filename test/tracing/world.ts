import type { Bot, BotOptions } from "../../src/index.ts";
import type { DeliveryOptions } from "../support/world/in-process.ts";
import { memory } from "../support/world/stores.ts";
import { World } from "../support/world/world.ts";

/** A world in which a delivery ends once its events are handled, so that their spans have ended, too. */
export class TracedWorld extends World {
  /** Leaves out the time, so that before its first reply a bot must ask the platform for it. */
  override readonly fetch: NonNullable<BotOptions["fetch"]> = async (url, init) => {
    const response = await this.platform.fetch(url, init);
    response.headers.delete("date");
    return response;
  };

  constructor() {
    super({ store: memory, bots: { retry: { baseMs: 1_000, factor: 1 } } });
  }

  override async deliver(
    bot: Bot,
    events: object | readonly unknown[],
    options: DeliveryOptions = {},
  ): Promise<number> {
    const status = await super.deliver(bot, events, options);
    await bot.idle();
    return status;
  }
}
