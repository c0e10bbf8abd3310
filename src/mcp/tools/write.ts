import { type ImageInput, sentMessage, sentPost, upload } from "../../client/resources.ts";
import * as z from "../../core/zod.ts";
import { ServiceBotError } from "../../errors.ts";
import { showFields } from "./text.ts";
import { id, type Tool, type ToolResult, text, tool, word } from "./tool.ts";

/** The content of a write (section 4, "Attaching images"). The client checks that it is not empty. */
const content = {
  text: text().optional().describe("The text. Needed unless there are imageKeys."),
  imageKeys: z
    .array(word())
    .max(4)
    .optional()
    .describe(
      "Keys from service_upload_image, at most 4, each good for one use. With or without text.",
    ),
};

const image = z.strictObject({
  url: word()
    .optional()
    .describe("The https address of an image on the public internet; the platform fetches it."),
  dataBase64: z.string().min(1).optional().describe("The image itself, as base64; 5 MB at most."),
  contentType: z
    .enum(["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"])
    .optional()
    .describe("Goes with dataBase64. Where it differs from what the bytes are, the bytes count."),
});

/** The tools that act in the bot's name, one for each operation of section 4. */
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
    run: async (input, { client, signal }) =>
      written("The post was made.", await client.posts.create(input, { signal })),
  }),
  tool({
    name: "service_create_comment",
    title: "Comment on a post",
    description:
      "Comments on a post as the bot: text, images (imageKeys), or both. Everybody can read it, and a second call makes a second comment.",
    scopes: ["comments:write"],
    writes: true,
    input: z.strictObject({ postId: id("the post"), ...content }),
    output: sentPost,
    run: async ({ postId, ...input }, { client, signal }) =>
      written("The comment was made.", await client.posts.comment(postId, input, { signal })),
  }),
  tool({
    name: "service_send_message",
    title: "Answer in a conversation",
    description:
      "Sends a direct message of the bot: text, images (imageKeys), or both. Only into a conversation that somebody has begun with the bot; a second call sends a second message.",
    scopes: ["dm"],
    writes: true,
    input: z.strictObject({ conversationId: id("the conversation"), ...content }),
    output: sentMessage,
    run: async ({ conversationId, ...input }, { client, signal }) =>
      written("The message was sent.", await client.dms.send(conversationId, input, { signal })),
  }),
  tool({
    name: "service_upload_image",
    title: "Upload an image",
    description:
      "Uploads an image, from an address (url) or as it is (dataBase64 with contentType). " +
      "Its key goes into imageKeys of a post, a comment or a message, once, within an hour.",
    scopes: ["posts:write", "comments:write", "dm"],
    writes: true,
    input: image,
    output: upload,
    run: async (input, { client, signal }) =>
      written("The image was uploaded.", await client.upload(imageIn(input), { signal })),
  }),
];

/** Describes a write. Its answer is documented in part, so its plain fields are shown. */
function written<T extends object>(done: string, value: T): ToolResult<T> {
  return { value, text: `${done}\n${showFields(value)}`.trimEnd() };
}

/**
 * Returns the image to upload. An address stays one, so that no text can name a file of this machine.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
function imageIn({ url, dataBase64 }: z.output<typeof image>): ImageInput {
  if (url !== undefined && dataBase64 === undefined) return { url };
  if (url !== undefined || dataBase64 === undefined) {
    throw new ServiceBotError("INVALID_OPTION", "Give either url or dataBase64.");
  }
  // Base64 is often broken into lines, and may come as a data: URL.
  const base64 = dataBase64.replace(/^data:[^,]{0,200};base64,/i, "").replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new ServiceBotError("INVALID_OPTION", "dataBase64 holds characters that are not base64.");
  }
  return Buffer.from(base64, "base64");
}
