import type { Post } from "../../client/resources.ts";
import {
  conversation,
  documentedPageOf,
  message,
  pageOf,
  post,
  profile,
  searchHit,
} from "../../client/resources.ts";
import * as z from "../../core/zod.ts";
import { parseEvent } from "../../events/parse.ts";
import type { AnyEvent } from "../../events/types.ts";
import { countItems, fitting, type Items, readPage } from "./page.ts";
import {
  postIn,
  showConversation,
  showEvent,
  showFields,
  showHit,
  showMessage,
  showPost,
  showWord,
} from "./text.ts";
import { id, limit, paging, previews, type Tool, text, tool, username } from "./tool.ts";

const reading = { scopes: ["read"], writes: false } as const;
const readingDms = { scopes: ["dm"], writes: false } as const;

const postId = id("the post");

const posts: Items<Post> = {
  names: ["post", "posts"],
  show: showPost,
  images: ({ images }) => images,
};

const event: z.ZodType<AnyEvent> = z.looseObject({
  id: z.string(),
  type: z.string(),
  payload: z.looseObject({}),
  createdAt: z.string(),
});

const eventPage = z.object({
  events: z.array(event),
  cursor: z.string(),
  unreadable: z.array(z.string()).optional(),
});

/** The tools that change nothing, one for each operation of section 4. */
export const readingTools: readonly Tool[] = [
  tool({
    ...reading,
    name: "service_get_me",
    scopeAssumed: true,
    title: "Get this bot's profile",
    description: "The profile of the bot that the token belongs to.",
    input: z.strictObject({}),
    output: profile,
    run: async (_, { client, signal }) => {
      const value = await client.me({ signal });
      return { value, text: showFields(value) };
    },
  }),
  tool({
    ...reading,
    name: "service_get_feed",
    title: "Read the feed",
    description: "A page of the feed: posts with their texts and images.",
    input: z.strictObject({ ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) => readPage((page) => context.client.feed(page), input, context, posts),
  }),
  tool({
    ...reading,
    name: "service_get_post",
    title: "Read a post",
    description: "One post with its text and images. Its comments are in service_list_comments.",
    input: z.strictObject({ postId, ...previews }),
    output: post,
    run: async ({ postId }, { client, signal }) => {
      const value = await client.posts.get(postId, { signal });
      return { value, text: showPost(value), images: value.images };
    },
  }),
  tool({
    ...reading,
    name: "service_list_comments",
    title: "List the comments on a post",
    description: "A page of the comments on a post, with their texts and images.",
    input: z.strictObject({ postId, ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) =>
      readPage((page) => context.client.posts.comments(input.postId, page), input, context, {
        ...posts,
        names: ["comment", "comments"],
      }),
  }),
  tool({
    ...reading,
    name: "service_get_user",
    title: "Look up an account",
    description: "The profile of a person or a bot, by user name.",
    input: z.strictObject({ username }),
    output: profile,
    run: async ({ username }, { client, signal }) => {
      const value = await client.users.get(username, { signal });
      return { value, text: showFields(value) };
    },
  }),
  tool({
    ...reading,
    name: "service_search",
    title: "Search",
    description: "A page of what the platform finds for a text.",
    input: z.strictObject({
      query: text(z.string().min(1).max(1_000)).describe("What to look for."),
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
    ...readingDms,
    name: "service_list_conversations",
    title: "List the conversations",
    description: "A page of the bot's conversations that have received messages, newest first.",
    input: z.strictObject({ ...paging }),
    output: documentedPageOf(conversation),
    run: (input, context) =>
      readPage((page) => context.client.dms.conversations(page), input, context, {
        names: ["conversation", "conversations"],
        show: showConversation,
      }),
  }),
  tool({
    ...readingDms,
    name: "service_list_messages",
    title: "Read a conversation",
    description: "A page of the messages of a conversation, newest first, with their images.",
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
      "What happened around the bot, oldest first: messages, mentions, comments, replies, follows, likes, reposts, quotes. " +
      "Reading takes nothing away. Direct messages need the scope dm, all else read.",
    scopes: ["read", "dm"],
    writes: false,
    input: z.strictObject({
      since: text(z.string().max(8_192))
        .optional()
        .describe(
          "The cursor of the page before. Left out: from the oldest event; empty: from now on.",
        ),
      limit,
    }),
    output: eventPage,
    run: async (input, { client, signal }) =>
      describeEvents(await client.events(input, { signal })),
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
  // The id of an event is the cursor behind it (section 4, GET /events).
  const cursor = isCut ? last.id : page.cursor;
  const lines = [
    countItems(events.length, ["event", "events"], readable.length),
    ...events.map(showEvent),
    ...unreadable.map((reason) => `One event could not be read: ${reason}`),
    ...(cursor === "" ? [] : [`What comes next: call again with since ${showWord(cursor)}.`]),
  ];
  const value = { events, cursor, ...(unreadable.length > 0 && { unreadable }) };
  return { value, text: lines.join("\n") };
}
