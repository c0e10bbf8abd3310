import type { OutgoingMessage, Sent } from "../client/types.ts";
import type { Step } from "../core/step.ts";
import { ServiceBotError } from "../errors.ts";
import type { AnyEvent } from "../events/types.ts";
import { commentStep, messageStep, type WriteScope } from "./writes.ts";

/** Where a reply goes. */
type Target =
  | { readonly kind: "dm"; readonly conversationId: string }
  | { readonly kind: "comment"; readonly postId: string };

/** A reply to an event as a step: a message to a message, a comment to activity on a post. */
export function replyStep(
  name: string,
  event: AnyEvent,
  message: OutgoingMessage,
  scope: WriteScope,
): Step<Sent> {
  const target = targetOf(event);
  return target.kind === "dm"
    ? messageStep(name, target.conversationId, message, scope)
    : commentStep(name, target.postId, message, scope);
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
      "Use ctx.comment() or ctx.client with the address you want to answer at.",
  );
}

/** An empty id is none: the lanes and the schemas see it so, too. */
function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
