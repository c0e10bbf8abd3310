import type { CallToolResult, Client } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import type { Failure } from "../faces/mcp.ts";

/** A result, and what is in it. */
export interface Called {
  readonly result: CallToolResult;
  /** Its first text. */
  readonly text: string;
}

export async function call(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
): Promise<Called> {
  const result = await client.callTool({ name, arguments: args });
  const [first] = result.content;
  return { result, text: first?.type === "text" ? first.text : "" };
}

/** What a failed call says for programs; it has the form that every failure has. */
export function failureIn({ result, text }: Called): Failure {
  expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(result).not.toHaveProperty("structuredContent");
  const failure = result._meta?.["service-bot/error"] as Failure;
  expect(text).toBe(`${failure.code}: ${failure.message}`);
  return failure;
}
