import type { CallToolResult, Client as McpClient } from "@modelcontextprotocol/client";
import { expect } from "vitest";
import { apiKey } from "../client/api.ts";
import { Client, type ClientOptions } from "../faces/client.ts";
import { createLogger } from "../faces/core.ts";
import { Access, allTools, callTool, type Failure, type Principal } from "./face.ts";

export interface Called {
  readonly result: CallToolResult;
  readonly text: string;
}

type Args = Readonly<Record<string, unknown>>;

export type Call = (name: string, args?: Args) => Promise<Called>;

export async function call(client: McpClient, name: string, args: Args = {}): Promise<Called> {
  return toCalled(await client.callTool({ name, arguments: args }));
}

/** Calls tools directly, without the MCP protocol. */
export function connectDirectly(
  options: Pick<ClientOptions, "baseUrl"> & Partial<ClientOptions>,
): Call {
  const principal = principalWith({ apiKey, ...options });
  return async (name, args = {}) => {
    const tool = allTools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return toCalled(await callTool(tool, args, principal, new AbortController().signal));
  };
}

export function principalWith(options: ClientOptions, access: Access = new Access()): Principal {
  const { baseUrl, fetch = globalThis.fetch } = options;
  return {
    ...{ baseUrl, access, fetch },
    client: new Client(options),
    probe: () => Promise.reject(new Error("nothing is listed")),
    logger: createLogger({ level: "silent", secrets: [] }),
  };
}

/** Returns a failed call's error, after checking its format. */
export function failureIn({ result, text }: Called): Failure {
  expect(result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  expect(result).not.toHaveProperty("structuredContent");
  const failure = result._meta?.["service-bot/error"] as Failure;
  expect(text).toBe(`${failure.code}: ${failure.message}`);
  return failure;
}

function toCalled(result: CallToolResult): Called {
  const [first] = result.content;
  return { result, text: first?.type === "text" ? first.text : "" };
}
