import type { ComponentChildren } from "preact";
import type { AppView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { addressOf } from "../../live/route.ts";
import type { ActionProps } from "../../parts/form.tsx";
import { createToken } from "../settings/create-token.tsx";

export interface Situation {
  readonly app: AppView;
  readonly hasStorage: boolean;
}

/** Problems caused by the app's owner or by the platform. */
export interface PlatformScenario {
  readonly title: string;
  /** The bot's reaction (docs/internals/guarantees.md). */
  readonly bot: string;
  readonly isActive: (now: Situation) => boolean;
  readonly blocked?: (now: Situation) => string | undefined;
  readonly banner: (now: Situation) => ComponentChildren;
  readonly start: (now: Situation) => Promise<unknown>;
  /** Label of the button that ends the scenario. Default: "Turn on". */
  readonly action?: string;
  /** Omitted if the scenario cannot be undone. */
  readonly stop?: (now: Situation) => Promise<unknown>;
  readonly confirm?: ActionProps["confirm"];
}

export const platformScenarios: readonly PlatformScenario[] = [
  {
    title: "The webhook is disabled",
    bot: "The platform disables a webhook after too many failures. The bot polls instead and misses nothing.",
    isActive: ({ app }) => app.webhook.url !== null && !app.webhook.enabled,
    blocked: ({ app }) => (app.webhook.url === null ? "no webhook saved" : undefined),
    banner: ({ app }) => (
      <>
        <a href={addressOf("webhook")}>Webhook off</a> ({app.webhook.disabledReason}): a running bot
        reads new events by polling.
      </>
    ),
    start: () => control.saveWebhook({ enabled: false }),
    stop: () => control.saveWebhook({ enabled: true }),
  },
  {
    title: "The app is disabled",
    bot: "Each API request gets 403, and no events are delivered. The bot waits until you enable the app.",
    isActive: ({ app }) => app.disabled,
    banner: ({ app }) => `@${app.bot.username}'s app is disabled: each request gets 403.`,
    start: ({ app }) => control.apps.set(app.bot.username, { disabled: true }),
    stop: ({ app }) => control.apps.set(app.bot.username, { disabled: false }),
  },
  {
    title: "Image storage is off",
    bot: "Uploads get 503 NOT_CONFIGURED. The bot should reply with text only.",
    isActive: ({ hasStorage }) => !hasStorage,
    banner: () => "Image storage is off: uploads get 503.",
    start: () => control.setStorage({ configured: false }),
    stop: () => control.setStorage({ configured: true }),
  },
  {
    title: "The token is revoked",
    bot: "Each request gets 401, and the bot logs an error. The bot needs a new token.",
    isActive: ({ app }) => app.tokens === 0,
    banner: ({ app }) => `@${app.bot.username} has no API token: each request gets 401.`,
    action: "Create a token",
    stop: ({ app }) => createToken({ bot: app.bot.username }),
    start: async () => {
      for (const { id } of await control.apps.tokens()) await control.apps.revokeToken(id);
    },
    confirm: {
      title: "Revoke every token?",
      text: "The bot cannot work until you create a new token. You cannot undo this.",
      submit: "Revoke",
    },
  },
];
