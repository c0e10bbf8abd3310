import type { Scope } from "../../core/platform-contract.ts";
import type { WebhookView } from "../webhooks/webhook.ts";

/** Profile of an account. */
export interface Profile {
  readonly username: string;
  readonly name: string;
}

/** The profile of an account, without the rest of it. */
export function profileOf({ username, name }: Profile): Profile {
  return { username, name };
}

/** An app: a bot with all that belongs to it. */
export interface AppView {
  readonly bot: Profile;
  /** True while its kill switch is thrown. */
  readonly disabled: boolean;
  readonly webhook: WebhookView;
  /** How many there are. */
  readonly tokens: number;
}

/** An account to make: a person, or the bot of a new app. */
export interface AccountInput {
  /** 1 to 30 letters, digits, dots, dashes, underscores. */
  readonly username: string;
  /** 1 to 100 characters. Default: the username with a capital. */
  readonly name?: string | undefined;
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

/** Something that the platform tells the owner of an app (section 3). */
export interface NotificationView {
  readonly id: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly type: "webhook.disabled";
  readonly message: string;
}
