/** A message in a conversation, which is a bot's most common event. */
export interface QueueEvent {
  readonly id: string;
  readonly conversation: string;
}

export interface MessageEvent {
  readonly id: string;
  readonly type: "dm.message";
  readonly payload: {
    readonly conversationId: string;
    readonly from: object;
    readonly excerpt: string;
  };
  readonly createdAt: string;
}

export function messageEvent(
  { id, conversation }: QueueEvent,
  excerpt = "hello, is anybody there?",
): MessageEvent {
  const from = { userId: "u_2", username: "ada", name: "Ada" };
  const payload = { conversationId: conversation, from, excerpt };
  return { id, type: "dm.message", payload, createdAt: "2026-01-01T00:00:00.000Z" };
}

export function eventId(number: number): string {
  return `evt_${String(number).padStart(12, "0")}`;
}
