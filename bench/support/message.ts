import type { QueueEvent } from "./queue.ts";

/** The event of a message, as the platform sends it. */
export function messageEvent({ id, conversation }: QueueEvent): object {
  const from = { userId: "u_2", username: "ada", name: "Ada" };
  const payload = { conversationId: conversation, from, excerpt: "hello, is anybody there?" };
  return { id, type: "dm.message", payload, createdAt: "2026-01-01T00:00:00.000Z" };
}
