import * as z from "zod";
import { allScopes, type Scope } from "../core/platform-contract.ts";
import {
  type AccountInput,
  accountInput,
  appNamed,
  findApp,
  newAccount,
  type Profile,
  profileOf,
} from "./accounts.ts";
import { notFound } from "./error.ts";
import type { Schemas } from "./http/body.ts";
import { newApiKey } from "./secrets.ts";
import { idOf, seqOf } from "./store/ids.ts";
import type { User } from "./store/people.ts";
import type { Store } from "./store/store.ts";
import type { AppEntry } from "./timeline/entries.ts";
import type { Timeline } from "./timeline/timeline.ts";
import type { WebhookView } from "./webhooks/webhook.ts";
import type { Webhooks } from "./webhooks/webhooks.ts";

/** An app: a bot with its tokens, webhook and kill switch. */
export interface AppView {
  readonly bot: Profile;
  readonly disabled: boolean;
  readonly webhook: WebhookView;
  readonly tokens: number;
}

/** A new app with its secrets, which are shown only once. */
export interface NewApp {
  readonly bot: Profile;
  /** Has every scope. */
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** Change to an app. */
export interface AppChange {
  /** True disables the app's tokens and webhook; false enables them again. */
  readonly disabled: boolean;
}

/** A new token. The full token is shown only once. */
export interface IssuedToken {
  readonly apiKey: string;
  readonly scopes: readonly Scope[];
}

/** A token without its secret part. */
export interface TokenView {
  readonly id: string;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  /** True for the first bot's original token, which the platform prints on startup. */
  readonly standard: boolean;
}

/** A notification for an app's owner (section 3 of the platform document). */
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

const appChange: z.ZodType<AppChange> = z.strictObject({ disabled: z.boolean() });

export const scopeList: z.ZodType<readonly Scope[]> = z.array(z.enum(allScopes));

export const appSchemas: Schemas<Apps> = {
  create: { input: accountInput },
  set: { change: appChange },
  createToken: { scopes: scopeList },
};

export class Apps {
  readonly #options: AppsOptions;

  /** @internal */
  constructor(options: AppsOptions) {
    this.#options = options;
  }

  /** Lists all apps, oldest first. */
  list(): readonly AppView[] {
    const { people, apps } = this.#options.store;
    return apps.bots().map((bot) => this.#view(people.get(bot)));
  }

  /**
   * Creates a bot with its own app, and returns the app's secrets. They are shown only once.
   *
   * @throws {PlatformError} 400 VALIDATION, also if the username is taken
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
   * Sets an app's kill switch. While an app is disabled, its API calls get 403 APP_DISABLED and its webhook sends
   * nothing. Disabling an app drops pending deliveries, but their events stay in the log.
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
   * Lists a bot's tokens without their secret parts. Default: the first bot.
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
   * Creates a bearer token with these scopes.
   *
   * @param username username of the app's bot; an unknown bot is created. Default: the first bot
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
   * Revokes a token.
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
