import { Deliverer, type DelivererOptions } from "./deliverer.ts";
import { Webhook, type WebhookOptions } from "./webhook.ts";

export interface WebhooksOptions
  extends Omit<DelivererOptions, "webhook">,
    Omit<WebhookOptions, "bot"> {}

interface AppWebhook {
  readonly webhook: Webhook;
  readonly deliverer: Deliverer;
}

/** The webhooks of all apps. Each has a schedule of its own: none waits for another one's endpoint. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #apps = new Map<number, AppWebhook>();

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** @param bot the number of the bot whose webhook it is */
  of(bot: number): Webhook {
    return this.#app(bot).webhook;
  }

  /** There may be something to deliver to this bot. */
  wake(bot: number): void {
    this.#app(bot).deliverer.wake();
  }

  /** There may be something to deliver to any bot. */
  wakeAll(): void {
    for (const bot of this.#options.store.apps.bots()) this.wake(bot);
  }

  /** The webhook of this bot was saved, or its app was disabled or enabled. */
  restart(bot: number): void {
    this.#app(bot).deliverer.restart();
  }

  /** Cancels the next rounds of all schedules. Deliveries under way count no failure. */
  reset(): void {
    for (const { deliverer } of this.#apps.values()) deliverer.reset();
  }

  /** Sends nothing more. Resolves when nothing runs; close the sender first. */
  async stop(): Promise<void> {
    await Promise.all([...this.#apps.values()].map(({ deliverer }) => deliverer.stop()));
  }

  #app(bot: number): AppWebhook {
    const known = this.#apps.get(bot);
    if (known !== undefined) return known;
    const webhook = new Webhook({ ...this.#options, bot });
    const made = { webhook, deliverer: new Deliverer({ ...this.#options, webhook }) };
    this.#apps.set(bot, made);
    return made;
  }
}
