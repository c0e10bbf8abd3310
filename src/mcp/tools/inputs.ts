import * as z from "../../core/zod.ts";

/** Longer than any id, cursor or address that there is; what comes by mistake is not carried to the platform. */
const LONGEST_WORD = 8_192;

const word = () => z.string().min(1).max(LONGEST_WORD);

/** An id as the platform gave it. */
export const id = (what: string): z.ZodType<string> => word().describe(what);

/** How many items at most (section 8 of the platform document). */
export const limit: z.ZodType<number | undefined> = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("How many at most; 1 to 50.");

/** `limit` and `cursor`, as the document shows them for conversations and messages (section 4). */
export const paging: {
  readonly limit: z.ZodType<number | undefined>;
  readonly cursor: z.ZodType<string | undefined>;
} = {
  limit,
  cursor: word()
    .optional()
    .describe("The nextCursor of the page before. Leave it out for the first page."),
};

export const previews: { readonly previews: z.ZodType<boolean | undefined> } = {
  previews: z
    .boolean()
    .optional()
    .describe("true: small previews of the images come along, to be looked at. Default false."),
};

/** What is to be said (section 4, "Attaching images"): the client checks that there is something, with its codes. */
export const content: {
  readonly text: z.ZodType<string | undefined>;
  readonly imageKeys: z.ZodType<string[] | undefined>;
} = {
  text: z.string().optional().describe("The text. Needed unless there are imageKeys."),
  imageKeys: z
    .array(word())
    .max(4)
    .optional()
    .describe(
      "Keys from service_upload_image, at most 4, each good for one use. With or without text.",
    ),
};

export const username: z.ZodType<string> = word().describe("With or without its @.");
