import { pageOf, post, profile, searchHit } from "../../client/schemas.ts";
import * as z from "../../core/zod.ts";
import { id, paging, previews, text, username } from "./inputs.ts";
import { readPage } from "./page.ts";
import { type Tool, tool } from "./tool.ts";
import { hitWords, postIn, postWords, profileWords } from "./words.ts";

/** Looks at a page of what is written and who is there; each needs the scope `read`. */
const reading = { scopes: ["read"], writes: false } as const;

/** `GET /me`, `/feed`, `/posts/:id`, `/posts/:id/comments`, `/users/:username`, `/search` (section 4). */
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
      return { value, text: profileWords(value) };
    },
  }),
  tool({
    ...reading,
    name: "service_get_feed",
    title: "Read the feed",
    description: "A page of the feed: posts with their texts and images.",
    input: z.strictObject({ ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) =>
      readPage((options) => context.client.feed(options), input, context, {
        names: ["post", "posts"],
        words: postWords,
        images: ({ images }) => images,
      }),
  }),
  tool({
    ...reading,
    name: "service_get_post",
    title: "Read a post",
    description: "One post with its text and images. Its comments are in service_list_comments.",
    input: z.strictObject({ postId: id("The id of the post."), ...previews }),
    output: post,
    run: async ({ postId }, { client, signal }) => {
      const value = await client.posts.get(postId, { signal });
      return { value, text: postWords(value), images: value.images };
    },
  }),
  tool({
    ...reading,
    name: "service_list_comments",
    title: "List the comments on a post",
    description: "A page of the comments on a post, with their texts and images.",
    input: z.strictObject({ postId: id("The id of the post."), ...paging, ...previews }),
    output: pageOf(post),
    run: (input, context) =>
      readPage((options) => context.client.posts.comments(input.postId, options), input, context, {
        names: ["comment", "comments"],
        words: postWords,
        images: ({ images }) => images,
      }),
  }),
  tool({
    ...reading,
    name: "service_get_user",
    title: "Look up an account",
    description: "The profile of a person or a bot, by user name.",
    input: z.strictObject({ username }),
    output: profile,
    run: async (input, { client, signal }) => {
      const value = await client.users.get(input.username, { signal });
      return { value, text: profileWords(value) };
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
    run: ({ query, ...page }, context) =>
      readPage((options) => context.client.search({ text: query }, options), page, context, {
        names: ["hit", "hits"],
        words: hitWords,
        images: (hit) => postIn(hit)?.images ?? [],
      }),
  }),
];
