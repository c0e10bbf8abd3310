import { createServer } from "node:http";
import { PassThrough } from "node:stream";
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { onTestFinished } from "vitest";
import type { Fetch } from "../faces/client.ts";
import { allScopes, createLogger, type Logger, type Scope } from "../faces/core.ts";
import type { Platform } from "../faces/platform.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { type HttpOptions, McpHttp, serveOverStdio } from "./face.ts";

export interface Connecting {
  readonly url: string;
  readonly apiKey: string;
  /** Sends requests to the platform. By default, over the network. */
  readonly fetch?: Fetch;
  readonly scopes?: string;
  /** MCP revision: `modern` is 2026, and `legacy` is 2025. */
  readonly era?: "modern" | "legacy";
}

export function accessTo({ url, apiKey, fetch }: Platform, token: string = apiKey): Connecting {
  return { url, apiKey: token, fetch };
}

export type Connect = (options: Connecting) => Promise<Client>;

/** Connects over stdio, using two streams in this process. */
export const overPipes: Connect = async ({ url, apiKey, fetch, scopes, era }) => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const server = serveOverStdio({
    ...{ baseUrl: url, apiKey, fetch, stdin, stdout },
    scopes: scopeList(scopes),
    logger: silentLogger(),
  });
  onTestFinished(() => server.close());
  // The client uses the server's transport with the streams swapped.
  return await connected(new StdioServerTransport(stdout, stdin), era);
};

/** Connects over Streamable HTTP, but without a network server. */
export const overHttp: Connect = async ({ url, apiKey, fetch, scopes, era }) => {
  const mcp = mcpWith({ baseUrl: url, fetch, scopes: scopeList(scopes) });
  const send = (to: string | URL, init?: RequestInit) => mcp.fetch(new Request(to, init));
  return await clientOf("http://localhost/mcp", apiKey, era, send);
};

export async function clientOf(
  url: string,
  apiKey: string,
  era: Connecting["era"] = "legacy",
  fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${apiKey}` } },
    ...(fetch && { fetch }),
  });
  return await connected(transport, era);
}

type McpOptions = Omit<HttpOptions, "logger"> & Partial<Pick<HttpOptions, "logger">>;

/** Creates MCP over HTTP without a network server. It closes when the test ends. */
export function mcpWith(options: McpOptions): McpHttp {
  const mcp = new McpHttp({ logger: silentLogger(), ...options });
  onTestFinished(() => mcp.close());
  return mcp;
}

export async function mcpOverHttp({
  allowHosts = [],
  ...options
}: McpOptions & { readonly allowHosts?: readonly string[] }): Promise<{
  readonly url: string;
  readonly mcp: McpHttp;
}> {
  const mcp = mcpWith(options);
  const { url } = await listenUntilEnd(createServer(mcp.listener("/mcp", allowHosts)));
  return { url: `${url}/mcp`, mcp };
}

export const ways: readonly (readonly [string, Connect])[] = [
  ["stdio, 2025", overPipes],
  ["stdio, 2026", (options) => overPipes({ ...options, era: "modern" })],
  ["HTTP, 2025", overHttp],
  ["HTTP, 2026", (options) => overHttp({ ...options, era: "modern" })],
];

export async function connected(
  transport: Transport,
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

function scopeList(list: string | undefined): readonly Scope[] | undefined {
  return list === undefined
    ? undefined
    : allScopes.filter((scope) => list.split(",").includes(scope));
}

function silentLogger(): Logger {
  return createLogger({ level: "silent", secrets: [] });
}
