import { sentMessage, sentPost } from "../../client/schemas.ts";
import * as z from "../../core/zod.ts";
import { content, id } from "./inputs.ts";
import { type Tool, tool } from "./tool.ts";
import { plainFields } from "./words.ts";

/** `POST /posts`, `/posts/:id/comments`, `/dm/conversations/:id/messages` (section 4). */
export const writingTools: readonly Tool[] = [
  tool({
    name: "service_create_post",
    title: "Make a post",
    description:
      "Makes a post of the bot: text, images (imageKeys), or both. Everybody can read it, and a second call makes a second post.",
    scopes: ["posts:write"],
    writes: true,
    input: z.strictObject({ ...content }),
    output: sentPost,
    run: async (input, { client, signal }) => {
      const value = await client.posts.create(input, { signal });
      return { value, text: told("The post was made.", value) };
    },
  }),
  tool({
    name: "service_create_comment",
    title: "Comment on a post",
    description:
      "Comments on a post as the bot: text, images (imageKeys), or both. Everybody can read it, and a second call makes a second comment.",
    scopes: ["comments:write"],
    writes: true,
    input: z.strictObject({ postId: id("The id of the post."), ...content }),
    output: sentPost,
    run: async ({ postId, ...outgoing }, { client, signal }) => {
      const value = await client.posts.comment(postId, outgoing, { signal });
      return { value, text: told("The comment was made.", value) };
    },
  }),
  tool({
    name: "service_send_message",
    title: "Answer in a conversation",
    description:
      "Sends a direct message of the bot: text, images (imageKeys), or both. Only into a conversation that somebody has begun with the bot; a second call sends a second message.",
    scopes: ["dm"],
    writes: true,
    input: z.strictObject({ conversationId: id("The id of the conversation."), ...content }),
    output: sentMessage,
    run: async ({ conversationId, ...outgoing }, { client, signal }) => {
      const value = await client.dms.send(conversationId, outgoing, { signal });
      return { value, text: told("The message was sent.", value) };
    },
  }),
];

/** What the platform answers to posts and comments is not documented: its plain fields are told. */
function told(what: string, value: object): string {
  return [what, plainFields(value)].filter((line) => line !== "").join("\n");
}
