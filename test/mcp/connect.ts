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
import { type HttpOptions, McpHttp, serveOverStdio } from "../faces/mcp.ts";
import type { Platform } from "../faces/platform.ts";
import { listenUntilEnd } from "../support/listen.ts";

/** The commands of `service-bot`. */

/** The platform and the token of a connection, and the revision of the protocol. */
export interface Connecting {
  readonly url: string;
  readonly apiKey: string;
  /** Sends the requests to the platform. Default: the network. */
  readonly fetch?: Fetch;
  readonly scopes?: string;
  /** The revision of the protocol: that of 2026, or those of 2025. */
  readonly era?: "modern" | "legacy";
}

/** The options of a connection to a platform in the process. */
export function accessTo({ url, apiKey, fetch }: Platform, token: string = apiKey): Connecting {
  return { url, apiKey: token, fetch };
}

/** The official client, connected until the test ends. */
export type Connect = (options: Connecting) => Promise<Client>;

/** The lines of stdio, over two streams of this process. */
export const overPipes: Connect = async ({ url, apiKey, fetch, scopes, era }) => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const server = serveOverStdio({
    ...{ baseUrl: url, apiKey, fetch, stdin, stdout },
    scopes: scopeList(scopes),
    logger: silentLogger(),
  });
  onTestFinished(() => server.close());
  // The transport is the same on both sides: lines come in by one stream, and go out by the other.
  return await connected(new StdioServerTransport(stdout, stdin), era);
};

/** Streamable HTTP without a server between. */
export const overHttp: Connect = async ({ url, apiKey, fetch, scopes, era }) => {
  const mcp = mcpWith({ baseUrl: url, fetch, scopes: scopeList(scopes) });
  const send = (to: string | URL, init?: RequestInit) => mcp.fetch(new Request(to, init));
  return await clientOf("http://localhost/mcp", apiKey, era, send);
};

/** The official client of a server that is there already. */
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

/** MCP over HTTP as a function, until the test ends. */
export function mcpWith(options: McpOptions): McpHttp {
  const mcp = new McpHttp({ logger: silentLogger(), ...options });
  onTestFinished(() => mcp.close());
  return mcp;
}

/** An MCP server over HTTP until the test ends. */
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

/** Every way in which client and server can speak: each transport with each revision of the protocol. */
export const ways: readonly (readonly [string, Connect])[] = [
  ["stdio, 2025", overPipes],
  ["stdio, 2026", (options) => overPipes({ ...options, era: "modern" })],
  ["HTTP, 2025", overHttp],
  ["HTTP, 2026", (options) => overHttp({ ...options, era: "modern" })],
];

/** Connects the official client until the test ends. */
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

/** Reads the list that `--scopes` takes. */
function scopeList(list: string | undefined): readonly Scope[] | undefined {
  return list === undefined
    ? undefined
    : allScopes.filter((scope) => list.split(",").includes(scope));
}

function silentLogger(): Logger {
  return createLogger({ level: "silent", secrets: [] });
}
