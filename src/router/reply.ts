import type { Client } from "../client/client.ts";
import type { OutgoingMessage, Sent } from "../client/types.ts";
import type { Step } from "../core/step.ts";
import { ServiceBotError } from "../errors.ts";
import type { AnyEvent } from "../events/types.ts";
import { findComment, findMessage, refOf } from "./find-reply.ts";

/** Where a reply goes. */
type Target =
  | { readonly kind: "dm"; readonly conversationId: string }
  | { readonly kind: "comment"; readonly postId: string };

/** The API needs a moment to finish what it began when the deadline passed, in milliseconds. */
const SETTLE_MS = 1_000;

/** Describes one reply to an event as a step: how to send it, and how to find it after a crash. */
export function replyStep(
  name: string,
  event: AnyEvent,
  message: string | OutgoingMessage,
  client: Client,
  signal: AbortSignal,
): Step<Sent> {
  const target = targetOf(event);
  const outgoing = typeof message === "string" ? { text: message } : message;
  return {
    name,
    request: JSON.stringify(outgoing),
    run: async () => {
      const sent: Sent = await send(client, target, outgoing, signal);
      return { result: sent, ref: sent.id && refOf(target.kind, sent.id) };
    },
    find: (intent) =>
      target.kind === "dm"
        ? findMessage(client, target.conversationId, intent, signal)
        : findComment(client, target.postId, intent, signal),
    inFlightMs: client.timeoutMs + SETTLE_MS,
    repeatable: false,
  };
}

function send(
  client: Client,
  target: Target,
  outgoing: OutgoingMessage,
  signal: AbortSignal,
): Promise<Sent> {
  return target.kind === "dm"
    ? client.dms.send(target.conversationId, outgoing, { signal })
    : client.posts.comment(target.postId, outgoing, { signal });
}

/** The conversation of a message; the post of anything that happened on a post. */
function targetOf(event: AnyEvent): Target {
  const { conversationId, postId, entityType, entityId }: Readonly<Record<string, unknown>> = {
    ...event.payload,
  };
  if (isText(conversationId)) return { kind: "dm", conversationId };
  if (isText(postId)) return { kind: "comment", postId };
  // The values of entityType are not documented; "post" is the type that posts carry (section 2).
  if (entityType === "post" && isText(entityId)) {
    return { kind: "comment", postId: entityId };
  }
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `A ${event.type} event that names neither a conversation nor a post cannot be replied to. ` +
      "Use ctx.client with the address you want to answer at.",
  );
}

/** An empty id is none: the lanes and the schemas see it so, too. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
