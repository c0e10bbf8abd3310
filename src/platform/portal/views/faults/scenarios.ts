import type { AppView, FaultsChange, FaultsState } from "../../../types.ts";
import type { control } from "../../api/control.ts";
import type { ActionProps } from "../../parts/form.tsx";
import { modes, type Target } from "./modes.ts";

/** Requests that scenarios make. */
export type Control = Pick<
  typeof control,
  "setFaults" | "saveWebhook" | "setApp" | "setStorage" | "tokens" | "revokeToken"
>;

/** State of the platform that scenarios change. */
export interface Situation {
  readonly faults: FaultsState;
  readonly hasStorage: boolean;
  readonly app: AppView;
}

/** A fault in words, started and stopped by one click. */
export interface Scenario {
  readonly title: string;
  /** Reaction of the bot (docs/guarantees.md). */
  readonly bot: string;
  /** Key in the Faults view. */
  readonly key?: string;
  readonly isActive: (now: Situation) => boolean;
  readonly start: (control: Control, now: Situation) => unknown;
  /** Absent if it cannot be undone. */
  readonly stop?: (control: Control, now: Situation) => unknown;
  readonly confirm?: NonNullable<ActionProps["confirm"]>;
}

/** The fault of a part, with its mode's own text unless another is given. */
function fault<T extends Target>(
  title: string,
  target: T,
  wanted: NonNullable<FaultsChange[T]>,
  more: { readonly key?: string; readonly bot?: string } = {},
): Scenario {
  const info = modes[target].find(({ mode }) => mode === wanted.mode);
  return {
    title,
    bot: info?.bot ?? "",
    ...more,
    isActive: ({ faults: { [target]: now } }) =>
      wanted.mode === now.mode && (wanted.times === undefined) === (now.times === undefined),
    start: (control) => control.setFaults({ [target]: wanted }),
    stop: (control) => control.setFaults({ [target]: { mode: "none" } }),
  };
}

const deliveries: readonly Scenario[] = [
  // Its key works on every view.
  fault("The next delivery fails", "webhook", { mode: "status", times: 1 }, { key: "f" }),
  fault("The next delivery times out", "webhook", { mode: "timeout", times: 1 }, { key: "t" }),
  fault(
    "The webhook breaks",
    "webhook",
    { mode: "status" },
    {
      key: "x",
      bot: "Each delivery fails. After 20 failures in a row the platform disables the webhook. The bot polls.",
    },
  ),
  fault("The platform repeats itself", "webhook", { mode: "twice" }, { key: "b" }),
  fault("Events arrive out of order", "webhook", { mode: "shuffle" }, { key: "u" }),
];

const api: readonly Scenario[] = [
  fault("30 % of the API requests fail", "api", { mode: "mix", rate: 0.3 }, { key: "y" }),
  fault("The API is slow", "api", { mode: "slow", delayMs: 3_000 }, { key: "z" }),
  fault("The API does not answer", "api", { mode: "hold" }, { key: "h" }),
  fault(
    "The API refuses the next 3 requests with 429",
    "api",
    { mode: "status", status: 429, retryAfterSeconds: 2, times: 3 },
    { key: "g" },
  ),
  fault(
    "The answer to the next write is lost",
    "api",
    { mode: "lose-answer", match: "write", times: 1 },
    { key: "l" },
  ),
];

const platform: readonly Scenario[] = [
  {
    title: "The webhook is disabled",
    bot: "As after too many failures. The bot polls, and misses nothing.",
    isActive: ({ app }) => !app.webhook.enabled,
    start: (control) => control.saveWebhook({ enabled: false }),
    stop: (control) => control.saveWebhook({ enabled: true }),
  },
  {
    title: "The app is disabled",
    bot: "Each request gets 403, and nothing is delivered. The bot waits until you enable the app.",
    isActive: ({ app }) => app.disabled,
    start: (control, { app }) => control.setApp(app.bot.username, { disabled: true }),
    stop: (control, { app }) => control.setApp(app.bot.username, { disabled: false }),
  },
  {
    title: "Image storage is off",
    bot: "Uploads get 503 NOT_CONFIGURED. A bot should answer with text alone.",
    isActive: ({ hasStorage }) => !hasStorage,
    start: (control) => control.setStorage({ configured: false }),
    stop: (control) => control.setStorage({ configured: true }),
  },
  {
    title: "The token is revoked",
    bot: "Each request gets 401, and the bot logs it. It needs a new token.",
    confirm: {
      title: "Revoke every token?",
      text: "The bot can do nothing until you create a token in Settings and put it into its .env. This cannot be undone.",
      submit: "Revoke",
    },
    isActive: ({ app }) => app.tokens === 0,
    start: async (control) => {
      const { items } = await control.tokens();
      for (const { id } of items) await control.revokeToken(id);
    },
  },
];

export const scenarios = { Deliveries: deliveries, API: api, Platform: platform } as const;

const none = { mode: "none" } as const;

/** The end of every fault. */
export const noFaults: FaultsChange = { webhook: none, api: none, events: none };
