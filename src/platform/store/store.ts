import type { Database } from "better-sqlite3";
import { Blocks } from "./blocks.ts";
import { Conversations } from "./conversations.ts";
import { openDatabase } from "./database.ts";
import { EventLog } from "./event-log.ts";
import { Images } from "./images.ts";
import { LateEvents } from "./late-events.ts";
import { People } from "./people.ts";
import { Posts } from "./posts.ts";
import { Tokens } from "./tokens.ts";
import { Usage } from "./usage.ts";
import { WebhookStore } from "./webhook.ts";

/** Everything that the platform remembers. Synchronous, so that a request is one step. */
export class Store {
  readonly people: People;
  readonly conversations: Conversations;
  readonly posts: Posts;
  readonly events: EventLog;
  readonly lateEvents: LateEvents;
  readonly tokens: Tokens;
  readonly webhook: WebhookStore;
  readonly images: Images;
  readonly blocks: Blocks;
  readonly usage: Usage;
  readonly #db: Database;

  /** @throws {ConfigError} the file cannot be used */
  constructor(file: string) {
    this.#db = openDatabase(file);
    this.people = new People(this.#db);
    this.conversations = new Conversations(this.#db);
    this.posts = new Posts(this.#db);
    this.events = new EventLog(this.#db);
    this.lateEvents = new LateEvents(this.#db);
    this.tokens = new Tokens(this.#db);
    this.webhook = new WebhookStore(this.#db);
    this.images = new Images(this.#db);
    this.blocks = new Blocks(this.#db);
    this.usage = new Usage(this.#db);
  }

  /** Runs `work` as one: when it throws, nothing of it is kept. */
  transaction<T>(work: () => T): T {
    return this.#db.transaction(work).immediate();
  }

  close(): void {
    this.#db.close();
  }
}
