import * as z from "../../core/zod.ts";
import { parseEvent } from "../../events/parse.ts";
import type { AnyEvent } from "../../events/types.ts";
import { limit, text } from "./inputs.ts";
import { countWords, fitting } from "./size.ts";
import { type Tool, tool } from "./tool.ts";
import { eventWords, word } from "./words.ts";

const event: z.ZodType<AnyEvent> = z.looseObject({
  id: z.string(),
  type: z.string(),
  payload: z.looseObject({}),
  createdAt: z.string(),
});

/** `GET /events` (section 4). */
export const eventTools: readonly Tool[] = [
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
    output: z.object({
      events: z.array(event),
      cursor: z.string(),
      unreadable: z.array(z.string()).optional(),
    }),
    run: async (input, { client, signal }) => {
      const page = await client.events(input, { signal });
      const parsed = page.events.map(parseEvent);
      const readable = parsed.flatMap((one) => (one.ok ? [one.event] : []));
      const unreadable = parsed.flatMap((one) =>
        one.ok ? [] : [`${word(one.id ?? "without an id")}: ${one.reason}`],
      );
      const events = readable.slice(0, fitting(readable));
      const last = events.at(-1);
      const isCut = events.length < readable.length && last !== undefined;
      // The id of an event is the cursor behind it (section 4, GET /events).
      const cursor = isCut ? last.id : page.cursor;
      return {
        value: { events, cursor, ...(unreadable.length === 0 ? {} : { unreadable }) },
        text: [
          countWords(events.length, ["event", "events"], readable.length),
          ...events.map(eventWords),
          ...unreadable.map((reason) => `One event could not be read: ${reason}`),
          cursor === "" ? "" : `What comes next: call again with since ${word(cursor)}.`,
        ]
          .filter((line) => line !== "")
          .join("\n"),
      };
    },
  }),
];
