import type { EventType } from "../../../types.ts";

interface EventTypeText {
  /** Cause of the event (section 6 of the platform document). */
  readonly cause: string;
  /** The action in the past tense, shown before the quoted text. Empty if the text alone describes it. */
  readonly act: string;
}

export const eventTypes: Readonly<Record<EventType, EventTypeText>> = {
  "dm.message": { cause: "someone sends the bot a direct message", act: "" },
  mention: { cause: "someone mentions the bot in a post or comment", act: "mentioned the bot" },
  comment: { cause: "someone comments on the bot's post", act: "commented" },
  reply: { cause: "someone replies to the bot's comment", act: "replied" },
  follow: { cause: "someone follows the bot", act: "follows the bot" },
  like: { cause: "someone likes the bot's post or comment", act: "liked it" },
  repost: { cause: "someone reposts the bot's post", act: "reposted it" },
  quote: { cause: "someone quotes the bot's post", act: "quoted it" },
};
