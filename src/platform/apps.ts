import { allScopes, type Scope } from "../core/platform-contract.ts";
import {
  type AccountInput,
  appNamed,
  findApp,
  newAccount,
  type Profile,
  profileOf,
} from "./accounts.ts";
import { notFound } from "./error.ts";
import { newApiKey } from "./secrets.ts";
import { idOf, seqOf } from "./store/ids.ts";
import type { User } from "./store/people.ts";
import type { Store } from "./store/store.ts";
import type { AppEntry } from "./timeline/entries.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { WebhookView } from "./webhooks/webhook.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** An app: a bot with all that belongs to it. */
export interface AppView {
  readonly bot: Profile;
  /** True while its kill switch is thrown. */
  readonly disabled: boolean;
  readonly webhook: WebhookView;
  /** How many there are. */
  readonly tokens: number;
}

/** A new app with its secrets, which are shown this once. */
export interface NewApp {
  readonly bot: Profile;
  /** A token with every scope. */
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** Change of an app. */
export interface AppChange {
  /** True takes its tokens and its webhook out of use; false gives them back. */
  readonly disabled: boolean;
}

/** A token, the one time that it is shown whole. */
export interface IssuedToken {
  readonly apiKey: string;
  readonly scopes: readonly Scope[];
}

/** A token without what makes it one. */
export interface TokenView {
  readonly id: string;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  /** True for the one that the platform began with, and has printed: the first bot's. */
  readonly standard: boolean;
}

/** A message of the platform to the owner of an app (section 3). */
export interface NotificationView {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly type: "webhook.disabled";
  readonly message: string;
}

export interface AppsOptions {
  readonly store: Store;
  readonly webhooks: Webhooks;
  readonly timeline: Timeline;
}

/** The apps: each is a bot with its tokens, its webhook, its limits and its kill switch. */
export class Apps {
  readonly #options: AppsOptions;

  constructor(options: AppsOptions) {
    this.#options = options;
  }

  /** All apps, the first one first. */
  list(): readonly AppView[] {
    const { people, apps } = this.#options.store;
    return apps.bots().map((bot) => this.#view(people.get(bot)));
  }

  /**
   * Makes a bot with an app of its own.
   *
   * @returns its secrets, which are shown this once
   * @throws {PlatformError} 400 VALIDATION, also if the name is taken
   */
  create({ username, name }: AccountInput): NewApp {
    const { store } = this.#options;
    const apiKey = newApiKey();
    const bot = store.transaction(() => {
      const made = newAccount(store, { username, name }, "bot");
      store.tokens.add(apiKey, made.seq, allScopes);
      return made;
    });
    this.#note(bot, "created");
    return { bot: profileOf(bot), apiKey, webhookSecret: store.webhook.get(bot.seq).secret };
  }

  /**
   * Throws the kill switch of an app, or puts it back. While the app is disabled its calls are answered with 403
   * APP_DISABLED and its webhook sends nothing; what was pending is in the log alone.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  set(username: string, { disabled }: AppChange): AppView {
    const { store, webhooks } = this.#options;
    const bot = appNamed(store, username);
    if (store.apps.disabled(bot.seq) !== disabled) {
      store.transaction(() => {
        store.apps.setDisabled(bot.seq, disabled);
        store.webhook.prune(bot.seq);
      });
      this.#note(bot, disabled ? "disabled" : "enabled");
      webhooks.restart(bot.seq);
    }
    return this.#view(bot);
  }

  /**
   * The tokens of a bot, without what makes them tokens.
   *
   * @throws {PlatformError} 400 VALIDATION; 404 NOT_FOUND
   */
  tokens(bot?: string): readonly TokenView[] {
    const { store } = this.#options;
    return store.tokens.of(appNamed(store, bot).seq).map(({ seq, ...facts }) => {
      return { id: idOf("t", seq), ...facts };
    });
  }

  /**
   * Makes a bearer token with these scopes.
   *
   * @param username of the bot whose app it is for; made on first use. Default: the first one
   * @throws {PlatformError} 400 VALIDATION
   */
  createToken(scopes: readonly Scope[], username?: string): IssuedToken {
    const { store } = this.#options;
    const apiKey = newApiKey();
    const own = [...new Set(scopes)];
    const known = findApp(store, username);
    const bot = store.transaction(() => {
      const owner = known ?? newAccount(store, { username: username ?? "" }, "bot");
      store.tokens.add(apiKey, owner.seq, own);
      return owner;
    });
    this.#note(bot, known === undefined ? "created" : "token created");
    return { apiKey, scopes: own };
  }

  /**
   * Makes a token invalid.
   *
   * @throws {PlatformError} 404 NOT_FOUND
   */
  revokeToken(id: string): void {
    const { store } = this.#options;
    const seq = seqOf("t", id);
    const bot = seq === undefined ? undefined : store.tokens.remove(seq);
    if (bot === undefined) throw notFound(`token: ${id}`);
    this.#note(store.people.get(bot), "token revoked");
  }

  #note({ username }: User, change: AppEntry["change"]): void {
    this.#options.timeline.add({ kind: "app", bot: username, change });
  }

  #view(bot: User): AppView {
    const { store, webhooks } = this.#options;
    return {
      bot: profileOf(bot),
      disabled: store.apps.disabled(bot.seq),
      webhook: webhooks.of(bot.seq).view,
      tokens: store.tokens.of(bot.seq).length,
    };
  }
}
