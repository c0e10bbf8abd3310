import { createHash } from "node:crypto";
import type { Subject } from "../core/step.ts";
import { actorOf } from "../events/actor.ts";
import { idText } from "../events/id.ts";
import type { AnyEvent } from "../events/types.ts";

/** One comment can be all of these at once (section 6). */
const COMMENT_TYPES: ReadonlySet<string> = new Set(["mention", "comment", "reply"]);

/**
 * Names the comment that an event is about, so that one of several events of a comment is answered. `undefined` where the
 * event names no comment. The document does not show whether the `commentId` of a `reply` is the new comment. If it is the
 * comment above, two replies of one person have one name, but they have one type as well: a comment makes one event of each.
 */
export function subjectOf(event: AnyEvent): Subject | undefined {
  if (!COMMENT_TYPES.has(event.type)) return undefined;
  const { commentId, entityType, entityId }: Readonly<Record<string, unknown>> = {
    ...event.payload,
  };
  const id = idText(commentId) ?? (entityType === "comment" ? idText(entityId) : undefined);
  if (id === undefined) return undefined;
  const content = JSON.stringify([id, actorOf(event)]);
  const ref = `content:${createHash("sha256").update(content).digest("base64url")}`;
  return { ref, kindRef: `${ref}:${event.type}` };
}
