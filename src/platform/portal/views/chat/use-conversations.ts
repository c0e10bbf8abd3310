import type { ControlConversation } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { touches } from "../../live/touches.ts";
import { useLive } from "../../live/use-live.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";

/**
 * Everybody's conversations, those with the latest messages first. Those of whoever speaks are always among them, however
 * many there are.
 */
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
