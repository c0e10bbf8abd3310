import { conversation, documentedPageOf, message } from "../../client/schemas.ts";
import * as z from "../../core/zod.ts";
import { id, paging, previews } from "./inputs.ts";
import { readPage } from "./page.ts";
import { type Tool, tool } from "./tool.ts";
import { conversationWords, messageWords } from "./words.ts";

/** `GET /dm/conversations` and `/dm/conversations/:id/messages` (section 4). */
export const conversationTools: readonly Tool[] = [
  tool({
    name: "service_list_conversations",
    title: "List the conversations",
    description: "A page of the bot's conversations that have received messages, newest first.",
    scopes: ["dm"],
    writes: false,
    input: z.strictObject({ ...paging }),
    output: documentedPageOf(conversation),
    run: (input, context) =>
      readPage((options) => context.client.dms.conversations(options), input, context, {
        names: ["conversation", "conversations"],
        words: conversationWords,
      }),
  }),
  tool({
    name: "service_list_messages",
    title: "Read a conversation",
    description: "A page of the messages of a conversation, newest first, with their images.",
    scopes: ["dm"],
    writes: false,
    input: z.strictObject({
      conversationId: id("The id of the conversation."),
      ...paging,
      ...previews,
    }),
    output: documentedPageOf(message),
    run: (input, context) =>
      readPage(
        (options) => context.client.dms.messages(input.conversationId, options),
        input,
        context,
        {
          names: ["message", "messages"],
          words: messageWords,
          images: ({ images }) => images,
        },
      ),
  }),
];
