import { orderKey } from "../faces/events.ts";
import type { NewEvent } from "../faces/inbox.ts";

export function message(id: string, conversation = "c1"): NewEvent {
  const from = { userId: "u_ada", username: "ada", name: "Ada" };
  const event = {
    id,
    type: "dm.message",
    payload: { conversationId: conversation, from, excerpt: `text of ${id}` },
    createdAt: "2026-01-01T00:00:00.000Z",
  };
  return {
    id,
    type: event.type,
    lane: `dm:${conversation}`,
    ord: orderKey(id),
    body: JSON.stringify(event),
  };
}

export function messages(...ids: readonly string[]): NewEvent[] {
  return ids.map((id) => message(id));
}
