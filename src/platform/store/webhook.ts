import type { Database, Statement } from "better-sqlite3";
import type { EventType } from "../../events/types.ts";
import type { LoggedEvent } from "./event-log.ts";

/** The configuration and the health of the app's one webhook (sections 2 and 3). */
export interface WebhookState {
  readonly url: string | null;
  /** The types subscribed to; empty means all. */
  readonly types: readonly EventType[];
  readonly secret: string;
  readonly enabled: boolean;
  readonly consecutiveFailures: number;
  /** Why it is off; null while it is on, and before it was ever set up. */
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

/** Whether the webhook is subscribed to the type of an event. */
const SUBSCRIBED = `(json_array_length(webhook.types) = 0
  OR event.type IN (SELECT value FROM json_each(webhook.types)))`;

/** The webhook's row, and the queue of what it still owes. */
export class WebhookStore {
  readonly #get: Statement<[], WebhookRow>;
  readonly #put: Statement<[WebhookRow]>;
  readonly #enqueue: Statement<[number]>;
  readonly #dequeue: Statement<[number]>;
  readonly #prune: Statement<[]>;

  constructor(db: Database) {
    this.#get = db.prepare("SELECT * FROM webhook");
    this.#put = db.prepare(
      `INSERT OR REPLACE INTO webhook
         (id, url, types, secret, enabled, consecutive_failures, disabled_reason)
       VALUES (1, @url, @types, @secret, @enabled, @consecutive_failures, @disabled_reason)`,
    );
    this.#enqueue = db.prepare(
      `INSERT INTO pending_delivery (event)
       SELECT event.seq FROM event, webhook
       WHERE event.seq = ? AND webhook.enabled AND ${SUBSCRIBED}`,
    );
    this.#dequeue = db.prepare("DELETE FROM pending_delivery WHERE event = ?");
    this.#prune = db.prepare(
      `DELETE FROM pending_delivery WHERE NOT EXISTS (
         SELECT 1 FROM event, webhook
         WHERE event.seq = pending_delivery.event AND webhook.enabled AND ${SUBSCRIBED})`,
    );
  }

  /** Undefined in a new state file. */
  find(): WebhookState | undefined {
    const row = this.#get.get();
    return row && toState(row);
  }

  get(): WebhookState {
    const state = this.find();
    if (state === undefined) throw new Error("The state file has no webhook: it was never seeded");
    return state;
  }

  put(state: WebhookState): void {
    this.#put.run({
      url: state.url,
      types: JSON.stringify(state.types),
      secret: state.secret,
      enabled: state.enabled ? 1 : 0,
      consecutive_failures: state.consecutiveFailures,
      disabled_reason: state.disabledReason,
    });
  }

  /** Queues an event, if the webhook is on and subscribed to its type. */
  enqueue(event: LoggedEvent): void {
    this.#enqueue.run(event.seq);
  }

  dequeue(events: readonly LoggedEvent[]): void {
    for (const event of events) this.#dequeue.run(event.seq);
  }

  /** Forgets what the webhook, as it is now configured, does not owe any more. */
  prune(): void {
    this.#prune.run();
  }
}

function toState(row: WebhookRow): WebhookState {
  return {
    url: row.url,
    // Only `put` writes this column.
    types: JSON.parse(row.types) as EventType[],
    secret: row.secret,
    enabled: row.enabled === 1,
    consecutiveFailures: row.consecutive_failures,
    disabledReason: row.disabled_reason,
  };
}
