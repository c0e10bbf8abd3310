import * as z from "../core/zod.ts";
import type { ListedTool } from "./sdk.ts";
import { allTools } from "./tools/all.ts";
import type { Tool } from "./tools/tool.ts";

/** The tools as a client sees them. */
export function listed(tools: readonly Tool[]): ListedTool[] {
  return tools.flatMap(({ name }) => listings.get(name) ?? []);
}

/** How a tool is listed. */
function listingOf({ name, title, description, input, output, writes }: Tool): ListedTool {
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(input, "input"),
    outputSchema: schemaOf(output, "output"),
    annotations: {
      title,
      readOnlyHint: !writes,
      // What is written is added: nothing that was there is changed.
      destructiveHint: false,
      idempotentHint: !writes,
      // People everywhere write what is read, and read what is written.
      openWorldHint: true,
    },
  };
}

function schemaOf(schema: z.ZodType, io: "input" | "output"): { type: "object" } {
  const { $schema, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return { ...json, type: "object" };
}

/** Made once: schemas take their time. */
const listings: ReadonlyMap<string, ListedTool> = new Map(
  allTools.map((tool) => [tool.name, listingOf(tool)]),
);
