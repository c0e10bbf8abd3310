import * as z from "zod";
import { allScopes, type Scope } from "../../core/platform-contract.ts";
import { eventTypes } from "../../events/parse.ts";
import type { AccountInput, BlockInput, GroupInput } from "../accounts.ts";
import { type ActInput, OWN_TYPE } from "../acts/input.ts";
import type { AppChange } from "../apps.ts";
import type { ClockChange } from "../clock.ts";
import type { ApiFaultInput } from "../faults/api-faults.ts";
import { type EventFaultInput, eventFaultModes } from "../faults/event-faults.ts";
import { type WebhookFaultInput, webhookFaultModes } from "../faults/webhook-faults.ts";
import { eachLimit, type LimitSettings, MAX_LIMIT } from "../limits.ts";
import { WEBHOOK_SECRET } from "../secrets.ts";
import type { DeliverInput, DeliveryContent } from "../webhooks/forced.ts";
import type { WebhookChange } from "../webhooks/webhook.ts";
import type { TimersToFire } from "./bot-inboxes.ts";
import type { FaultsChange, StorageState } from "./shapes.ts";

/** Control API request bodies. Strict, because a caller could mistake an ignored field for an accepted one. */

/** Allows custom types, because the platform may add types (section 9 of the platform document). */
const eventType = z.string().regex(OWN_TYPE, {
  error: `must be one of ${eventTypes.join(", ")}, or a custom name of a-z, 0-9, dots, dashes and underscores`,
});

const optionalText = z.string().optional();

export const act: z.ZodType<ActInput> = z.strictObject({
  type: z.string(),
  from: z.string(),
  to: optionalText,
  text: optionalText,
  images: z.number().optional(),
  imageKeys: z.array(z.string()).optional(),
  conversationId: optionalText,
  postId: optionalText,
  commentId: optionalText,
  payload: z.record(z.string(), z.unknown()).optional(),
  count: z.number().optional(),
});

export const account: z.ZodType<AccountInput> = z.strictObject({
  username: z.string(),
  name: optionalText,
});

export const app: z.ZodType<AppChange> = z.strictObject({ disabled: z.boolean() });

export const token: z.ZodType<{ scopes: Scope[]; bot?: string | undefined }> = z.strictObject({
  scopes: z.array(z.enum(allScopes)),
  bot: optionalText,
});

export const group: z.ZodType<GroupInput> = z.strictObject({
  members: z.array(z.string()),
  text: optionalText,
});

export const block: z.ZodType<BlockInput> = z.strictObject({
  by: z.string(),
  whom: optionalText,
  blocked: z.boolean().optional(),
});

export const clock: z.ZodType<ClockChange> = z.strictObject({
  now: optionalText,
  advanceMs: z.number().optional(),
  frozen: z.boolean().optional(),
});

export const snapshot: z.ZodType<{ name?: string | undefined } | undefined> = z
  .strictObject({ name: optionalText })
  .optional();

export const nothing: z.ZodType<object | undefined> = z.strictObject({}).optional();

/** In characters. These names become part of the URL of a request to the bot, which is limited to 16 KB. */
const timerText = z.string().max(1_000);

export const timers: z.ZodType<TimersToFire> = z.strictObject({
  lane: timerText,
  name: timerText,
  key: timerText.optional(),
});

const limit = z.int().min(0).max(MAX_LIMIT).nullable().exactOptional();

export const limits: z.ZodType<Partial<LimitSettings>> = z.strictObject(eachLimit(limit));

export const storage: z.ZodType<StorageState> = z.strictObject({ configured: z.boolean() });

export const webhook: z.ZodType<WebhookChange> = z.strictObject({
  url: optionalText,
  types: z.array(eventType).optional(),
  enabled: z.boolean().optional(),
  secret: z
    .string()
    .regex(WEBHOOK_SECRET, "must begin with whsec_ and contain no spaces or commas")
    .optional(),
});

const deliveryContent = {
  eventIds: z.array(z.string()).optional(),
  body: optionalText,
};

export const deliveries: z.ZodType<DeliverInput> = z.strictObject({
  ...deliveryContent,
  times: z.number().optional(),
});

export const curl: z.ZodType<DeliveryContent> = z.strictObject(deliveryContent);

const failureStatus = z.int().min(300).max(599);

const span = z.int().min(1).max(86_400_000);

const reach = {
  rate: z.number().gt(0).max(1).optional(),
  times: z.int().min(1).max(1_000_000).optional(),
};

const webhookFault: z.ZodType<WebhookFaultInput> = z.strictObject({
  mode: z.enum(webhookFaultModes),
  status: failureStatus.optional(),
  delayMs: span.optional(),
  ...reach,
});

const eventFault: z.ZodType<EventFaultInput> = z.strictObject({
  mode: z.enum(eventFaultModes),
  lateMs: span.optional(),
  ...reach,
});

const apiFault: z.ZodType<ApiFaultInput> = z.strictObject({
  mode: z.enum(["none", "hold", "slow", "status", "lose-answer", "gateway", "mix"]),
  match: z.enum(["write", "all"]).optional(),
  status: failureStatus.optional(),
  delayMs: span.optional(),
  retryAfterSeconds: z.int().min(0).max(86_400).optional(),
  ...reach,
});

export const faults: z.ZodType<FaultsChange> = z.strictObject({
  webhook: webhookFault.optional(),
  api: apiFault.optional(),
  events: eventFault.optional(),
});
