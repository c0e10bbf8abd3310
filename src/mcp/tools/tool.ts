import type { Client } from "../../client/client.ts";
import type { Scope } from "../../client/scopes.ts";
import type { Image } from "../../client/types.ts";
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

/** One of the thirteen tools, over the client. */
export interface Tool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The scopes of which the token needs one (section 5, rules 2 and 3 of the platform document). */
  readonly scopes: readonly Scope[];
  /** True where it changes something. */
  readonly writes: boolean;
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  run(input: Input, context: ToolContext): Promise<Outcome<Output>>;
}

/** A tool among others: what it takes and answers is known to itself alone. */
export type AnyTool = Tool;

/** Gives a tool its types, from its schemas, and takes them off again. */
export function tool<Input, Output>(definition: Tool<Input, Output>): AnyTool {
  const { input, run } = definition;
  return { ...definition, run: (given, context) => run(input.parse(given), context) };
}
