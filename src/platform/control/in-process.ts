import { types } from "node:util";
import * as z from "zod";
import { describeValue } from "../../core/kinds.ts";
import { allScopes } from "../../core/platform-contract.ts";
import { tryRead } from "../../errors.ts";
import type { Apps } from "../apps.ts";
import type { ClockControl } from "../clock.ts";
import { invalid } from "../error.ts";
import { validate } from "../http/body.ts";
import type { Snapshots } from "../snapshots.ts";
import type { BotInboxes } from "./bot-inboxes.ts";
import type { Control } from "./control.ts";
import * as bodies from "./schemas.ts";

/**
 * The control operations for calls in process. Their arguments get the checks that the control API makes for its
 * requests, because JavaScript callers and casts bypass the types.
 */

type MethodOf<T> = {
  [M in keyof T]: T[M] extends (...given: never) => unknown ? M : never;
}[keyof T];

/** The schema of each parameter, in order. The compiler keeps the table complete. */
type Parameters<T> = { readonly [M in MethodOf<T>]: Readonly<Record<string, z.ZodType>> };

/** In characters. Error messages repeat ids. */
const id = z.string().max(1_000);
const optionalId = id.optional();
const bot = { bot: optionalId };
const page = { limit: z.number().optional(), cursor: optionalId };

const scopes = z.array(z.enum(allScopes));

const bytes = z.unknown().refine((given) => given instanceof Uint8Array, "must be a Uint8Array");

/** The platform sends a payload as JSON. */
const act = bodies.act.refine(
  ({ payload }) => tryRead(() => JSON.stringify({ payload })) !== undefined,
  "payload must be JSON",
);

const ofApps: Parameters<Apps> = {
  list: {},
  create: { input: bodies.account },
  set: { username: id, change: bodies.app },
  tokens: bot,
  createToken: { scopes, username: optionalId },
  revokeToken: { id },
};

const ofClock: Parameters<ClockControl> = { set: { change: bodies.clock } };

const ofSnapshots: Parameters<Snapshots> = {
  list: {},
  take: { name: z.string().optional() },
  file: { id },
  upload: { file: bytes, name: z.string().optional() },
  restore: { id },
  remove: { id },
};

const ofInboxes: Parameters<BotInboxes> = {
  event: { id, ...bot },
  decide: { id, decision: z.enum(["retry", "discard"]), ...bot },
  states: { input: z.strictObject({ prefix: optionalId, cursor: optionalId }).optional(), ...bot },
  timers: { input: z.strictObject({ lane: optionalId, cursor: optionalId }).optional(), ...bot },
  fireTimers: { input: bodies.timers, ...bot },
  crons: bot,
  fireCron: { name: id, ...bot },
};

const ofControl: Parameters<Control> = {
  state: bot,
  act: { input: act },
  addImage: {
    bytes,
    input: z.strictObject({ from: id, contentType: z.string().optional() }),
  },
  events: { since: optionalId, ...bot, limit: z.int().min(1).optional() },
  event: { id, ...bot },
  call: { id },
  createToken: { scopes, ...bot },
  createPerson: { input: bodies.account },
  createGroup: { input: bodies.group },
  setBlock: { input: bodies.block },
  limitsOf: bot,
  setLimits: { change: bodies.limits },
  setStorage: { change: bodies.storage },
  webhookOf: bot,
  saveWebhook: { change: bodies.webhook, ...bot },
  regenerateWebhookSecret: bot,
  notifications: bot,
  setFaults: { change: bodies.faults },
  deliver: { input: bodies.deliveries, ...bot },
  deliveryCommand: { content: bodies.curl, ...bot },
  botView: bot,
  reset: {},
  deliveries: { input: z.strictObject(page).optional(), ...bot },
  delivery: { id },
  conversations: { input: z.strictObject({ ...page, of: optionalId }).optional() },
  messages: { conversationId: id },
  messagesPage: {
    conversationId: id,
    input: z.strictObject({ limit: z.number().optional(), before: optionalId }).optional(),
  },
  deleteMessage: { messageId: id },
  posts: { input: z.strictObject(page).optional() },
  post: { postId: id },
  comments: { postId: id },
};

/** @returns the operations, which throw or reject with a `PlatformError` (400 VALIDATION) for invalid arguments */
export function inProcess(control: Control): Control {
  return checked(control, ofControl, {
    apps: () => checked(control.apps, ofApps),
    clock: () => checked(control.clock, ofClock),
    snapshots: () => checked(control.snapshots, ofSnapshots),
    inbox: () => checked(control.inbox, ofInboxes),
  });
}

function checked<T extends object>(
  target: T,
  methods: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>>,
  parts: Readonly<Record<string, () => object>> = {},
): T {
  return new Proxy(target, {
    get: (_, name) => {
      // Read without the proxy as receiver, because the getters use private fields.
      const member: unknown = Reflect.get(target, name);
      if (typeof name === "symbol") return member;
      const part = parts[name];
      if (part !== undefined) return part();
      const schemas = methods[name];
      if (schemas === undefined || typeof member !== "function") return member;
      return (...given: readonly unknown[]) => {
        try {
          return Reflect.apply(member, target, readArguments(schemas, given));
        } catch (error) {
          if (types.isAsyncFunction(member)) return Promise.reject(error);
          throw error;
        }
      };
    },
  });
}

/** @throws {PlatformError} 400 VALIDATION */
function readArguments(
  schemas: Readonly<Record<string, z.ZodType>>,
  given: readonly unknown[],
): unknown[] {
  return Object.entries(schemas).map(([name, schema], nth) => {
    const value = given[nth];
    // A schema takes these for an object without fields.
    if (types.isPromise(value) || types.isDate(value)) {
      throw invalid(`${name} cannot be ${describeValue(value)}`);
    }
    return validate(schema, value, name);
  });
}
