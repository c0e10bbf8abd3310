import type { Database } from "better-sqlite3";
import { PlatformError, RETRY_AT_ONCE } from "../error.ts";
import { AppStore, Notifications, Tokens, Usage } from "./apps.ts";
import { Conversations } from "./conversations.ts";
import { withoutWal } from "./database.ts";
import { EventLog, LateEvents } from "./event-log.ts";
import { Images } from "./images.ts";
import { Blocks, People } from "./people.ts";
import { Posts } from "./posts.ts";
import { Statement } from "./statement.ts";
import { WebhookStore } from "./webhook.ts";

/** The platform's whole state. Synchronous, so that no other request runs in the middle of a write. */
export class Store {
  readonly people: People;
  readonly apps: AppStore;
  readonly conversations: Conversations;
  readonly posts: Posts;
  readonly events: EventLog;
  readonly lateEvents: LateEvents;
  readonly tokens: Tokens;
  readonly webhook: WebhookStore;
  readonly notifications: Notifications;
  readonly images: Images;
  readonly blocks: Blocks;
  readonly usage: Usage;
  readonly settings: SavedSettings;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    this.people = new People(this.#db);
    this.apps = new AppStore(this.#db);
    this.conversations = new Conversations(this.#db);
    this.posts = new Posts(this.#db);
    this.events = new EventLog(this.#db);
    this.lateEvents = new LateEvents(this.#db);
    this.tokens = new Tokens(this.#db);
    this.webhook = new WebhookStore(this.#db);
    this.notifications = new Notifications(this.#db);
    this.images = new Images(this.#db);
    this.blocks = new Blocks(this.#db);
    this.usage = new Usage(this.#db);
    this.settings = new SavedSettings(this.#db);
  }

  /** @throws {PlatformError} 503 STATE_REPLACED after another state has replaced this one */
  requireOpen(): void {
    if (this.isOpen) return;
    const message = "The state was replaced while the request was running. Send the request again.";
    throw new PlatformError(503, "STATE_REPLACED", message, RETRY_AT_ONCE);
  }

  get isOpen(): boolean {
    return this.#db.open;
  }

  requireNoTransaction(): void {
    if (this.#db.inTransaction)
      throw new Error("The state cannot be replaced during a transaction");
  }

  transaction<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }

  copy(): Uint8Array {
    return withoutWal(this.#db.serialize());
  }

  close(): void {
    this.#db.close();
  }
}

export class SavedSettings {
  readonly #get: Statement<[string], { value: string }>;
  readonly #put: Statement<[string, string]>;

  constructor(db: Database) {
    this.#get = new Statement(db, "SELECT value FROM setting WHERE name = ?");
    this.#put = new Statement(db, "INSERT OR REPLACE INTO setting (name, value) VALUES (?, ?)");
  }

  /** Returns a setting, or `undefined` if it is unset or unreadable. A user may load any state file. */
  get(name: string): unknown {
    const text = this.#get.get(name)?.value;
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      return undefined;
    }
  }

  put(name: string, value: unknown): void {
    this.#put.run(name, JSON.stringify(value));
  }
}
