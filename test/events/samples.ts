import type { ActivityPayload, EventType, PayloadByType } from "../faces/events.ts";

const actor = { username: "ada", name: "Ada" };
const activity = { actor, entityType: "post", entityId: "p_1" };

/** A value for each field, so that the compiler reports a missing one. */
const whole: Required<ActivityPayload> = {
  ...activity,
  excerpt: "hey @bot",
  postId: "p_1",
  commentId: "k_1",
};

/** A payload for each event type, with all the fields in section 6 of the platform document. */
export const payloads: {
  readonly [T in EventType]: PayloadByType[T] & Readonly<Record<string, unknown>>;
} = {
  "dm.message": {
    conversationId: "c_1",
    from: { userId: "u_1", username: "ada", name: "Ada" },
    excerpt: "hello",
  },
  mention: { ...whole },
  comment: { ...whole, excerpt: "nice" },
  reply: activity,
  follow: { actor, entityType: "user", entityId: "u_1" },
  like: activity,
  repost: activity,
  quote: activity,
};

export function wireEvent(
  type: string,
  payload: unknown,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return { id: "1001", type, payload, createdAt: "2026-01-02T03:04:05.678Z", ...more };
}
