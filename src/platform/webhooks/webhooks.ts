import { Deliverer, type DelivererOptions } from "./deliverer.ts";
import { Webhook, type WebhookOptions } from "./webhook.ts";

export interface WebhooksOptions
  extends Omit<DelivererOptions, "webhook">,
    Omit<WebhookOptions, "bot"> {}

interface AppWebhook {
  readonly webhook: Webhook;
  readonly deliverer: Deliverer;
}

/** The webhooks of all apps. Each webhook has its own schedule, so that a slow endpoint does not delay the others. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #apps = new Map<number, AppWebhook>();

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  of(bot: number): Webhook {
    return this.#app(bot).webhook;
  }

  wake(bot: number): void {
    this.#app(bot).deliverer.wake();
  }

  wakeAll(): void {
    for (const bot of this.#options.store.apps.bots()) this.wake(bot);
  }

  /** Retries pending deliveries immediately, after the webhook was saved or the app was disabled or enabled. */
  restart(bot: number): void {
    this.#app(bot).deliverer.restart();
  }

  /** Cancels the next rounds of all schedules. Failures of deliveries in flight no longer count. */
  reset(): void {
    for (const { deliverer } of this.#apps.values()) deliverer.reset();
  }

  /**
   * Stops all schedules. Resolves once the current runs have ended. Close the sender first, so that the runs end soon.
   */
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
