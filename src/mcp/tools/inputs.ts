import * as z from "../../core/zod.ts";

/** Longer than any id, cursor or address that there is; what comes by mistake is not carried to the platform. */
const LONGEST_WORD = 8_192;

/** A text that arrives as it was given: half a character (a lone surrogate) would be replaced on the way. */
export const text = (schema: z.ZodType<string> = z.string()): z.ZodType<string> =>
  schema.refine((value) => value.isWellFormed(), "Holds half a character (a lone surrogate)");

export const word = (): z.ZodType<string> => text(z.string().min(1).max(LONGEST_WORD));

/** A part of an address, where a dot or two would lead to another one. */
const segment = (nameIn: (value: string) => string) =>
  word().refine((value) => !["", ".", ".."].includes(nameIn(value)), "Is no id and no name");

/** An id as the platform gave it. */
export const id = (what: string): z.ZodType<string> => segment((value) => value).describe(what);

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
  text: text().optional().describe("The text. Needed unless there are imageKeys."),
  imageKeys: z
    .array(word())
    .max(4)
    .optional()
    .describe(
      "Keys from service_upload_image, at most 4, each good for one use. With or without text.",
    ),
};

export const username: z.ZodType<string> = segment((value) => value.replace(/^@/, "")).describe(
  "With or without its @.",
);
