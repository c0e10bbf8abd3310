import type { EventType } from "../../../types.ts";

/** Cause of an event of each type (section 6). */
export const eventTypes: Readonly<Record<EventType, string>> = {
  "dm.message": "someone sends the bot a direct message",
  mention: "the bot is @-mentioned in a post or comment",
  comment: "a comment is made on the bot's post",
  reply: "a reply is made to the bot's comment",
  follow: "someone follows the bot",
  like: "the bot's post or comment is liked",
  repost: "the bot's post is reposted",
  quote: "the bot's post is quoted",
};
