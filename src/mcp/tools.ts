import * as z from "zod";
import {
  conversation,
  documentedPageOf,
  type ImageInput,
  message,
  type Post,
  pageOf,
  post,
  profile,
  searchHit,
  sentMessageShape,
  sentPostShape,
  upload,
} from "../client/resources.ts";
import { arrayOf, object, openObject, optional, type Shape, string } from "../core/shapes.ts";
import { ServiceBotError } from "../errors.ts";
import { parseEvent } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import {
  countItems,
  fitting,
  type Items,
  postIn,
  readPage,
  showConversation,
  showEvent,
  showFields,
  showHit,
  showMessage,
  showPost,
  showWord,
} from "./text.ts";
import {
  id,
  limit,
  paging,
  previews,
  type Tool,
  type ToolResult,
  text,
  tool,
  username,
  word,
} from "./tool.ts";

const postId = id("the post");

const posts: Items<Post> = {
  names: ["post", "posts"],
  show: showPost,
  images: ({ images }) => images,
};

const event: Shape<Record<keyof AnyEvent, unknown>> = openObject({
  id: string,
  type: string,
  payload: openObject({}),
  createdAt: string,
});

const eventPage = object({
  events: arrayOf(event),
  cursor: string,
  unreadable: optional(arrayOf(string)),
});

/**
 * Content of a post, comment or message (section 4 of the platform document, "Attaching images"). The client checks
 * that it is not empty.
 */
const content = {
  text: text().optional().describe("The text. Required if there are no imageKeys."),
  imageKeys: z
    .array(word())
    .max(4)
    .optional()
    .describe("Keys from service_upload_image, at most 4, each valid once. With or without text."),
};

const image = z.strictObject({
  url: word().optional().describe("Public https URL of an image. The platform fetches it."),
  dataBase64: z.string().min(1).optional().describe("The image as base64, 5 MB at most."),
  contentType: z
    .enum(["image/png", "image/jpeg", "image/webp", "image/gif", "image/avif"])
    .optional()
    .describe("Media type of dataBase64. If it does not match the bytes, the bytes decide."),
});

/** The tools for the operations in section 4 of the platform document, in the order of `tools/list`. */
export const allTools: readonly Tool[] = [
  tool({
    scopes: ["read"],
    name: "service_get_me",
    scopeAssumed: true,
    title: "Get this bot's profile",
    description: "Returns the profile of the bot to which the token belongs.",
    input: z.strictObject({}),
    output: profile,
    run: async (_, { client, signal }) => {
      const value = await client.me({ signal });
      return { value, text: showFields(value) };
    },
  }),
  tool({
    scopes: ["read"],
    name: "service_get_feed",
    title: "Read the feed",
    description: "Returns a page of the feed: posts with their texts and images.",
    input: z.strictObject({ ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) => readPage((page) => context.client.feed(page), input, context, posts),
  }),
  tool({
    scopes: ["read"],
    name: "service_get_post",
    title: "Read a post",
    description:
      "Returns a post with its text and images. For its comments, call service_list_comments.",
    input: z.strictObject({ postId, ...previews }),
    output: post,
    run: async ({ postId }, { client, signal }) => {
      const value = await client.posts.get(postId, { signal });
      return { value, text: showPost(value), images: value.images };
    },
  }),
  tool({
    scopes: ["read"],
    name: "service_list_comments",
    title: "List the comments on a post",
    description: "Returns a page of the comments on a post, with their texts and images.",
    input: z.strictObject({ postId, ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) =>
      readPage((page) => context.client.posts.comments(input.postId, page), input, context, {
        ...posts,
        names: ["comment", "comments"],
      }),
  }),
  tool({
    scopes: ["read"],
    name: "service_get_user",
    title: "Look up an account",
    description: "Returns the profile of a user or a bot, by user name.",
    input: z.strictObject({ username }),
    output: profile,
    run: async ({ username }, { client, signal }) => {
      const value = await client.users.get(username, { signal });
      return { value, text: showFields(value) };
    },
  }),
  tool({
    scopes: ["read"],
    name: "service_search",
    title: "Search",
    description: "Returns a page of search results for a text.",
    input: z.strictObject({
      query: text(z.string().min(1).max(1_000)).describe("Text to search for."),
      ...paging,
      ...previews,
    }),
    output: pageOf(searchHit),
    run: ({ query, ...input }, context) =>
      readPage((page) => context.client.search({ text: query }, page), input, context, {
        names: ["hit", "hits"],
        show: showHit,
        images: (hit) => postIn(hit)?.images ?? [],
      }),
  }),
  tool({
    scopes: ["dm"],
    name: "service_list_conversations",
    title: "List the conversations",
    description: "Returns a page of the bot's conversations that contain messages, newest first.",
    input: z.strictObject({ ...paging }),
    output: documentedPageOf(conversation),
    run: (input, context) =>
      readPage((page) => context.client.dms.conversations(page), input, context, {
        names: ["conversation", "conversations"],
        show: showConversation,
      }),
  }),
  tool({
    scopes: ["dm"],
    name: "service_list_messages",
    title: "Read a conversation",
    description: "Returns a page of a conversation's messages, newest first, with their images.",
    input: z.strictObject({ conversationId: id("the conversation"), ...paging, ...previews }),
    output: documentedPageOf(message),
    run: (input, context) =>
      readPage((page) => context.client.dms.messages(input.conversationId, page), input, context, {
        names: ["message", "messages"],
        show: showMessage,
        images: ({ images }) => images,
      }),
  }),
  tool({
    name: "service_get_events",
    title: "Read the event log",
    description:
      "Returns events that concern the bot, oldest first: messages, mentions, comments, replies, follows, likes, reposts, quotes. " +
      "Reading removes nothing. Direct messages need the scope dm; other events need read.",
    scopes: ["read", "dm"],
    input: z.strictObject({
      since: text(z.string().max(8_192))
        .optional()
        .describe(
          "The cursor of the previous page. Omit it to start at the oldest event. Leave it empty to start now.",
        ),
      limit,
    }),
    output: eventPage,
    run: async (input, { client, signal }) =>
      describeEvents(await client.events(input, { signal })),
  }),
  tool({
    name: "service_create_post",
    title: "Write a post",
    description:
      "Writes a public post: text, images (imageKeys), or both. A second call writes a second post.",
    scopes: ["posts:write"],
    writes: true,
    input: z.strictObject({ ...content }),
    output: sentPostShape,
    run: async (input, { client, signal }) =>
      toWriteResult("The post was written.", await client.posts.create(input, { signal })),
  }),
  tool({
    name: "service_create_comment",
    title: "Comment on a post",
    description:
      "Writes a public comment on a post: text, images (imageKeys), or both. A second call writes a second comment.",
    scopes: ["comments:write"],
    writes: true,
    input: z.strictObject({ postId: id("the post"), ...content }),
    output: sentPostShape,
    run: async ({ postId, ...input }, { client, signal }) =>
      toWriteResult(
        "The comment was written.",
        await client.posts.comment(postId, input, { signal }),
      ),
  }),
  tool({
    name: "service_send_message",
    title: "Reply in a conversation",
    description:
      "Sends a direct message: text, images (imageKeys), or both. The user must have started the conversation. A second call sends a second message.",
    scopes: ["dm"],
    writes: true,
    input: z.strictObject({ conversationId: id("the conversation"), ...content }),
    output: sentMessageShape,
    run: async ({ conversationId, ...input }, { client, signal }) =>
      toWriteResult(
        "The message was sent.",
        await client.dms.send(conversationId, input, { signal }),
      ),
  }),
  tool({
    name: "service_upload_image",
    title: "Upload an image",
    description:
      "Uploads an image from a URL (url) or as bytes (dataBase64 with contentType). " +
      "Use its key once, within an hour, in imageKeys of a post, a comment or a message.",
    scopes: ["posts:write", "comments:write", "dm"],
    writes: true,
    input: image,
    output: upload,
    run: async (input, { client, signal }) =>
      toWriteResult("The image was uploaded.", await client.upload(imageIn(input), { signal })),
  }),
];

function describeEvents(page: { readonly events: readonly unknown[]; readonly cursor: string }) {
  const parsed = page.events.map(parseEvent);
  const readable = parsed.flatMap((one) => (one.ok ? [one.event] : []));
  const unreadable = parsed.flatMap((one) =>
    one.ok ? [] : [`${showWord(one.id ?? "without an id")}: ${one.reason}`],
  );
  const events = readable.slice(0, fitting(readable));
  const last = events.at(-1);
  const isCut = events.length < readable.length && last !== undefined;
  // The id of an event is also the cursor for the events after it (section 4 of the platform document, GET /events).
  const cursor = isCut ? last.id : page.cursor;
  const lines = [
    countItems(events.length, ["event", "events"], readable.length),
    ...events.map(showEvent),
    ...unreadable.map((reason) => `Unreadable event: ${reason}`),
    ...(cursor === "" ? [] : [`For later events, call again with since ${showWord(cursor)}.`]),
  ];
  const value = { events, cursor, unreadable: unreadable.length > 0 ? unreadable : undefined };
  return { value, text: lines.join("\n") };
}

/** Shows all primitive fields, because the platform document defines only some. */
function toWriteResult<T extends object>(done: string, value: T): ToolResult<T> {
  return { value, text: `${done}\n${showFields(value)}`.trimEnd() };
}

/**
 * Keeps a URL as `{ url }`, because a plain string could name a file on this machine.
 *
 * @throws {ServiceBotError} INVALID_OPTION
 */
function imageIn({ url, dataBase64 }: z.output<typeof image>): ImageInput {
  if (url !== undefined && dataBase64 === undefined) return { url };
  if (url !== undefined || dataBase64 === undefined) {
    throw new ServiceBotError("INVALID_OPTION", "Pass either url or dataBase64.");
  }
  // Base64 often has line breaks, and may be a data: URL.
  const base64 = dataBase64.replace(/^data:[^,]{0,200};base64,/i, "").replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw new ServiceBotError(
      "INVALID_OPTION",
      "dataBase64 contains characters that are not base64.",
    );
  }
  return Buffer.from(base64, "base64");
}
