import { control } from "../../api/control.ts";
import type { ControlConversation, TimelineEntry } from "../../api/shapes.ts";
import { type Pages, usePages } from "../../live/use-pages.ts";

/** Everybody's conversations, those with the latest messages first. */
export function useConversations(): Pages<ControlConversation> {
  return usePages(control.conversations, {
    key: "conversations",
    concerns: (entry) => isMessage(entry),
  });
}

/** True for what may be a new message, in one conversation or in any. */
export function isMessage(entry: TimelineEntry, id?: string): boolean {
  if (entry.kind === "state") return entry.change !== "clock";
  const place =
    entry.kind === "event"
      ? entry.conversationId
      : entry.kind === "api"
        ? entry.created?.conversationId
        : undefined;
  return place !== undefined && (id === undefined || place === id);
}
