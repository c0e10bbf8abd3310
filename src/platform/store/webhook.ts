import type { Database } from "better-sqlite3";
import type { LoggedEvent } from "./event-log.ts";
import { Statement } from "./statement.ts";

/** Configuration and health of an app's webhook (sections 2 and 3 of the platform document). */
export interface WebhookState {
  readonly url: string | null;
  /** Subscribed event types. Empty means all types. */
  readonly types: readonly string[];
  readonly secret: string;
  readonly enabled: boolean;
  readonly consecutiveFailures: number;
  /** Reason why the webhook is disabled. `null` while it is enabled or not set up yet. */
  readonly disabledReason: string | null;
}

interface WebhookRow {
  readonly url: string | null;
  readonly types: string;
  readonly secret: string;
  readonly enabled: number;
  readonly consecutive_failures: number;
  readonly disabled_reason: string | null;
}

/**
 * Selects events to deliver: the webhook is enabled, its app is not disabled, and the webhook subscribes to the event
 * type.
 */
const IS_DELIVERABLE = `webhook.enabled AND NOT app.disabled AND (json_array_length(webhook.types) = 0
  OR event.type IN (SELECT value FROM json_each(webhook.types)))`;

export class WebhookStore {
  readonly #get: Statement<[number], WebhookRow>;
  readonly #put: Statement<[WebhookRow & { bot: number }]>;
  readonly #enqueue: Statement<[number]>;
  readonly #dequeue: Statement<[number, number]>;
  readonly #prune: Statement<[number]>;

  constructor(db: Database) {
    this.#get = new Statement(db, "SELECT * FROM webhook WHERE bot = ?");
    this.#put = new Statement(
      db,
      `INSERT INTO webhook (bot, url, types, secret, enabled, consecutive_failures, disabled_reason)
       VALUES (@bot, @url, @types, @secret, @enabled, @consecutive_failures, @disabled_reason)
       ON CONFLICT (bot) DO UPDATE SET
         url = excluded.url, types = excluded.types, secret = excluded.secret,
         enabled = excluded.enabled, consecutive_failures = excluded.consecutive_failures,
         disabled_reason = excluded.disabled_reason`,
    );
    this.#enqueue = new Statement(
      db,
      `INSERT INTO pending_delivery (bot, event)
       SELECT webhook.bot, event.seq
       FROM event JOIN webhook ON webhook.bot = event.recipient JOIN app ON app.bot = webhook.bot
       WHERE event.seq = +? AND ${IS_DELIVERABLE}`,
    );
    this.#dequeue = new Statement(db, "DELETE FROM pending_delivery WHERE bot = ? AND event = ?");
    this.#prune = new Statement(
      db,
      `DELETE FROM pending_delivery WHERE bot = ? AND NOT EXISTS (
         SELECT 1 FROM event, webhook, app
         WHERE event.seq = pending_delivery.event AND webhook.bot = pending_delivery.bot
           AND app.bot = pending_delivery.bot AND ${IS_DELIVERABLE})`,
    );
  }

  get(bot: number): WebhookState {
    const row = this.#get.get(bot);
    if (row === undefined) throw new Error(`Bot ${bot} has no app`);
    return toState(row);
  }

  put(bot: number, state: WebhookState): void {
    this.#put.run({
      bot,
      url: state.url,
      types: JSON.stringify(state.types),
      secret: state.secret,
      enabled: state.enabled ? 1 : 0,
      consecutive_failures: state.consecutiveFailures,
      disabled_reason: state.disabledReason,
    });
  }

  enqueue(event: LoggedEvent): void {
    this.#enqueue.run(event.seq);
  }

  dequeue(events: readonly LoggedEvent[]): void {
    for (const { recipient, seq } of events) this.#dequeue.run(recipient, seq);
  }

  /** Removes the pending deliveries that the webhook's current configuration excludes. */
  prune(bot: number): void {
    this.#prune.run(bot);
  }
}

function toState(row: WebhookRow): WebhookState {
  return {
    url: row.url,
    // Trusted, because only `put` writes this column.
    types: JSON.parse(row.types) as string[],
    secret: row.secret,
    enabled: row.enabled === 1,
    consecutiveFailures: row.consecutive_failures,
    disabledReason: row.disabled_reason,
  };
}
