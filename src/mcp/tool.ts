import * as z from "zod";
import type { Client, Image } from "../client/index.ts";
import type { Scope } from "../core/platform-contract.ts";
import type { Shape } from "../core/shapes.ts";

export interface ToolContext {
  readonly client: Client;
  /** Aborts when the call is cancelled or the client disconnects. */
  readonly signal: AbortSignal;
}

export interface ToolResult<Output> {
  readonly value: Output;
  readonly text: string;
  readonly images?: readonly Image[];
}

interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Scopes that allow the call. The token needs one of them (section 5 of the platform document, rules 2 and 3). */
  readonly scopes: readonly Scope[];
  /** True if the platform document does not name the scope. A successful call then proves no scope. */
  readonly scopeAssumed?: boolean;
  readonly writes?: boolean;
}

interface ToolDefinition<Input, Output> extends ToolFacts {
  readonly input: z.ZodType<Input>;
  readonly output: Shape<Output>;
  run(input: Input, context: ToolContext): Promise<ToolResult<Output>>;
}

export type PreparedCall = (context: ToolContext) => Promise<ToolResult<unknown>>;

export interface Tool extends ToolFacts {
  readonly input: z.ZodType;
  readonly output: Shape<unknown>;
  prepare(given: unknown): PreparedCall | z.ZodError;
}

export function tool<Input, Output>(definition: ToolDefinition<Input, Output>): Tool {
  const { run, ...facts } = definition;
  return {
    ...facts,
    prepare: (given) => {
      const checked = facts.input.safeParse(given);
      return checked.success ? (context) => run(checked.data, context) : checked.error;
    },
  };
}

/**
 * Maximum length of an id, cursor or URL, in characters. Longer values are mistakes, and the platform never sees them.
 */
const MAX_WORD = 8_192;

/** Text without lone surrogates, which would be replaced in transit. */
export const text = (schema: z.ZodType<string> = z.string()): z.ZodType<string> =>
  schema.refine((value) => value.isWellFormed(), "Contains a lone surrogate");

export const word = (): z.ZodType<string> => text(z.string().min(1).max(MAX_WORD));

/** A path segment. `.` and `..` would change the path. */
const segment = (nameIn: (value: string) => string) =>
  word().refine((value) => !["", ".", ".."].includes(nameIn(value)), "Must be an id or a name");

export const id = (what: string): z.ZodType<string> =>
  segment((value) => value).describe(`The id of ${what}.`);

export const username: z.ZodType<string> = segment((value) => value.replace(/^@/, "")).describe(
  "With or without @.",
);

/** Page size (section 8 of the platform document). */
export const limit: z.ZodType<number | undefined> = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("Maximum number of items, 1 to 50.");

/** Pagination of conversations and messages (section 4 of the platform document). */
export const paging: {
  readonly limit: z.ZodType<number | undefined>;
  readonly cursor: z.ZodType<string | undefined>;
} = {
  limit,
  cursor: word()
    .optional()
    .describe("The nextCursor of the previous page. Omit it for the first page."),
};

export const previews: { readonly previews: z.ZodType<boolean | undefined> } = {
  previews: z
    .boolean()
    .optional()
    .describe("true: include small previews of the images. Default false."),
};
