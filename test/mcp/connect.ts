import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { createLogger } from "../faces/core.ts";
import { type HttpOptions, McpHttp, onItsPath } from "../faces/mcp.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { COMPILE_CACHE } from "../support/process.ts";

/** The commands of `service-bot`. */
export const MAIN: string = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** Which token reaches which platform, and how the two sides speak. */
export interface Connecting {
  readonly url: string;
  readonly apiKey: string;
  readonly scopes?: string;
  /** The revision of the protocol: that of 2026, or those of 2025. */
  readonly era?: "modern" | "legacy";
}

/** The official client, connected until the test ends. */
export type Connect = (options: Connecting) => Promise<Client>;

/** `service-bot mcp` as a process, over standard input and output. */
export const overStdio: Connect = async ({ url, apiKey, scopes, era }) => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, "mcp", ...(scopes === undefined ? [] : ["--scopes", scopes])],
    env: {
      SERVICE_BASE_URL: url,
      SERVICE_API_KEY: apiKey,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    },
    stderr: "ignore",
  });
  return await connected(transport, era);
};

/** Streamable HTTP, served in this process. */
export const overHttp: Connect = async ({ url, apiKey, scopes, era }) => {
  const server = await mcpOverHttp({
    baseUrl: url,
    ...(scopes === undefined ? {} : { scopes: scopes.split(",") as HttpOptions["scopes"] }),
  });
  return await clientOf(server.url, apiKey, era);
};

/** The official client of a server that is there already. */
export async function clientOf(
  url: string,
  apiKey: string,
  era: Connecting["era"] = "legacy",
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${apiKey}` } },
  });
  return await connected(transport, era);
}

/** An MCP server over HTTP until the test ends. */
export async function mcpOverHttp(
  options: Omit<HttpOptions, "logger"> & Partial<Pick<HttpOptions, "logger">>,
): Promise<{ readonly url: string; readonly mcp: McpHttp }> {
  const logger = createLogger({ level: "silent", secrets: [] });
  const mcp = new McpHttp({ logger, ...options });
  const { url } = await listenUntilEnd(createServer(onItsPath(mcp.listener)));
  onTestFinished(() => mcp.close());
  return { url: `${url}/mcp`, mcp };
}

/** Every way in which the two can speak. */
export const ways: readonly (readonly [string, Connect])[] = [
  ["stdio, 2025", overStdio],
  ["stdio, 2026", (options) => overStdio({ ...options, era: "modern" })],
  ["HTTP, 2025", overHttp],
  ["HTTP, 2026", (options) => overHttp({ ...options, era: "modern" })],
];

async function connected(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  era: Connecting["era"] = "legacy",
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {},
  );
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}
