import { newApiKey, newWebhookSecret } from "../secrets.ts";
import type { User } from "./people.ts";
import type { Store } from "./store.ts";

/** Secrets that replace those in the state file. */
export interface SeedOptions {
  readonly apiKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Fills a new state file with sample content, and creates missing secrets. */
export function seed(store: Store, { apiKey, webhookSecret, now }: SeedOptions): void {
  store.transaction(() => {
    if (!store.people.seeded) seedWorld(store, now);
    const token = apiKey ?? (store.tokens.standard() === undefined ? newApiKey() : undefined);
    const bot = store.people.bot().seq;
    if (token !== undefined) store.tokens.setStandard(token, bot);
    if (webhookSecret !== undefined) {
      store.webhook.put(bot, { ...store.webhook.get(bot), secret: webhookSecret });
    }
  });
}

function seedWorld(store: Store, now: number): void {
  const bot = addBot(store, "bot");
  const ada = store.people.add("ada", undefined, "person");
  const ben = store.people.add("ben", undefined, "person");
  store.posts.addPost({ author: bot.seq, text: "Hello", at: now });
  // Add a conversation that the bot must not see.
  const apart = store.conversations.between(ada.seq, ben.seq);
  store.conversations.addMessage(apart, ada.seq, "Lunch?", now);
}

/** Creates a bot with its own app. The app's webhook is disabled and has a new secret. */
export function addBot(store: Store, username: string, name?: string): User {
  const bot = store.people.add(username, name, "bot");
  store.apps.add(bot.seq);
  store.webhook.put(bot.seq, {
    url: null,
    types: [],
    secret: newWebhookSecret(),
    enabled: false,
    consecutiveFailures: 0,
    disabledReason: null,
  });
  return bot;
}
