import type { EventType } from "../../../types.ts";

/** Cause of each event type (section 6 of the platform document). */
export const eventTypes: Readonly<Record<EventType, string>> = {
  "dm.message": "someone sends the bot a direct message",
  mention: "someone mentions the bot in a post or comment",
  comment: "someone comments on the bot's post",
  reply: "someone replies to the bot's comment",
  follow: "someone follows the bot",
  like: "someone likes the bot's post or comment",
  repost: "someone reposts the bot's post",
  quote: "someone quotes the bot's post",
};
