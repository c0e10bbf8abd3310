import type { Client } from "../../client/client.ts";
import type { Image } from "../../client/types.ts";
import type { Scope } from "../../core/scope.ts";
import type * as z from "../../core/zod.ts";

/** What a call has besides its arguments. */
export interface ToolContext {
  readonly client: Client;
  /** Aborts when the call is cancelled, or nobody waits for it any more. */
  readonly signal: AbortSignal;
}

/** What a tool answers. */
export interface Outcome<Output> {
  /** Becomes the structured content. */
  readonly value: Output;
  /** The same for somebody who reads. */
  readonly text: string;
  /** The images in it, of which previews can be shown. */
  readonly images?: readonly Image[];
}

interface ToolFacts {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The scopes of which the token needs one (section 5, rules 2 and 3 of the platform document). */
  readonly scopes: readonly Scope[];
  /** True where that is not documented: its success says nothing about scopes. */
  readonly scopeAssumed?: boolean;
  /** True where it changes something. */
  readonly writes: boolean;
}

interface ToolDefinition<Input, Output> extends ToolFacts {
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  run(input: Input, context: ToolContext): Promise<Outcome<Output>>;
}

/** A call whose arguments are good. */
export type PreparedCall = (context: ToolContext) => Promise<Outcome<unknown>>;

/** One of the thirteen tools, over the client. What it takes and answers is known to itself alone. */
export interface Tool extends ToolFacts {
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  /** Checks the arguments of a call; or says what is wrong with them. */
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
