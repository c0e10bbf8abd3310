import type { EventSummary, Inbox } from "../faces/inbox.ts";

export async function deadLetters({
  admin,
}: Pick<Inbox, "admin">): Promise<readonly EventSummary[]> {
  return (await admin.list({ state: "dead" })).events;
}
