import { newApiKey, newWebhookSecret } from "../secrets.ts";
import type { Store } from "./store.ts";

/** Secrets that replace what the state file holds. */
export interface SeedOptions {
  readonly apiKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Fills a new state file with a small world, and makes sure that there are secrets. */
export function seed(store: Store, { apiKey, webhookSecret, now }: SeedOptions): void {
  store.transaction(() => {
    if (store.webhook.find() === undefined) seedWorld(store, now);
    const token = apiKey ?? (store.tokens.standard() === undefined ? newApiKey() : undefined);
    if (token !== undefined) store.tokens.setStandard(token, store.people.bot().seq);
    if (webhookSecret !== undefined) {
      store.webhook.put({ ...store.webhook.get(), secret: webhookSecret });
    }
  });
}

function seedWorld(store: Store, now: number): void {
  const bot = store.people.add("bot", "Bot", "bot");
  const ada = store.people.add("ada", "Ada", "person");
  const ben = store.people.add("ben", "Ben", "person");
  store.posts.addPost({ author: bot.seq, text: "Hello", at: now });
  // A conversation without the bot: there must be something that it is not allowed to see.
  const apart = store.conversations.between(ada.seq, ben.seq);
  store.conversations.addMessage(apart, ada.seq, "Lunch?", now);
  store.webhook.put({
    url: null,
    types: [],
    secret: newWebhookSecret(),
    enabled: false,
    consecutiveFailures: 0,
    disabledReason: null,
  });
}
