import type { AuthorView, ControlConversation } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";

/** Reads all conversations, the latest message first. Those of the person are among them, however many there are. */
export function useConversations(person: string): Pages<ControlConversation> {
  const concerns = touches("conversationId");
  const all = usePages(control.conversations, { key: "conversations", concerns });
  const own = useLive(() => control.conversationsOf(person), { key: person, concerns });
  if (all.data === undefined || own.data === undefined) {
    return { ...all, data: undefined, error: all.error ?? own.error };
  }
  const known = new Set(all.data.map(({ id }) => id));
  const missing = own.data.items.filter(({ id }) => !known.has(id));
  return { ...all, data: [...all.data, ...missing] };
}

/** Finds the one conversation of these two. */
export function between(
  all: readonly ControlConversation[],
  one: string,
  other: string,
): ControlConversation | undefined {
  const has = (members: readonly AuthorView[], name: string) =>
    members.some(({ username }) => username === name);
  return all.find(({ group, members }) => !group && has(members, one) && has(members, other));
}

/** Names a conversation by its members: "@ben and @bot". */
export function nameOf({ members }: Pick<ControlConversation, "members">): string {
  return members.map(({ username }) => `@${username}`).join(" and ");
}
