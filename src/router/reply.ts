import type { OutgoingMessage, Sent } from "../client/types.ts";
import type { Step } from "../core/step.ts";
import { ServiceBotError } from "../errors.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";
import { subjectOf } from "./subject.ts";
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
  if (target.kind === "dm") return messageStep(name, target.conversationId, message, scope);
  return {
    ...commentStep(name, target.postId, message, scope),
    subject: subjectOf(event),
  };
}

/** The conversation of a message; the post of anything that happened on a post. */
function targetOf(event: AnyEvent): Target {
  const payload: Readonly<Record<string, unknown>> = { ...event.payload };
  const conversationId = idText(payload["conversationId"]);
  if (conversationId !== undefined) return { kind: "dm", conversationId };
  // The values of entityType are not documented; "post" is the type that posts carry (section 2).
  const ofPost = payload["entityType"] === "post" ? payload["entityId"] : undefined;
  const postId = idText(payload["postId"]) ?? idText(ofPost);
  if (postId !== undefined) return { kind: "comment", postId };
  throw new ServiceBotError(
    "REPLY_IMPOSSIBLE",
    `A ${event.type} event that names neither a conversation nor a post cannot be replied to. ` +
      "Use ctx.comment() or ctx.client with the address you want to answer at.",
  );
}
