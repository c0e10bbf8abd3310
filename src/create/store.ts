import type { Store } from "./choices.ts";

/** What a bot has on top of its template, so that it can keep its events in a store. */
export interface StoreNeeds {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  /** `DATABASE_URL` beside the bot, in compose.yaml. */
  readonly composeUrl: string;
}

/** A server for development; compose.yaml is for the public one, and asks for a domain. */
const START = "docker compose --file compose.dev.yaml up --detach --wait";

export const needsOf: Readonly<Record<Store, StoreNeeds>> = {
  sqlite: { dependencies: {}, scripts: {}, composeUrl: "file:data/bot.db" },
  postgres: {
    dependencies: { pg: "^8.11.0" },
    scripts: { db: START },
    composeUrl: "postgres://bot@postgres:5432/bot",
  },
};
