import { orderKey } from "../faces/events.ts";
import type { Claim, NewEvent } from "../faces/inbox.ts";

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

/** Creates the claim of a message's first run. */
export function claimOf(given: Partial<Claim> = {}): Claim {
  return {
    id: "1",
    type: "dm.message",
    lane: "dm:c_1",
    body: "{}",
    fence: 1,
    crashes: 0,
    attempt: 1,
    source: "webhook",
    late: false,
    receivedAt: 0,
    trace: undefined,
    ...given,
  };
}
