import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { apiKey } from "../../client/api.ts";
import { createLogger } from "../../faces/core.ts";
import { type StdioConnection, serveOverStdio } from "../face.ts";

export interface Wire {
  readonly connection: StdioConnection;
  readonly stdin: PassThrough;
  send(...lines: (string | object)[]): void;
  next(): Promise<Record<string, unknown>>;
}

export const initialize: object = {
  ...{ jsonrpc: "2.0", id: "init", method: "initialize" },
  params: {
    ...{ protocolVersion: "2025-11-25", capabilities: {} },
    clientInfo: { name: "test", version: "1.0.0" },
  },
};

export const calling = (id: number | string, name: string, args: unknown = {}): object => ({
  ...{ jsonrpc: "2.0", id, method: "tools/call" },
  params: { name, arguments: args },
});

export const cancelled = (requestId: number | string): object => ({
  ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
  params: { requestId, reason: "changed my mind" },
});

export const garbage: readonly string[] = [
  "",
  "hello",
  "{",
  '"text"',
  "null",
  "[]",
  "5",
  "{}",
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":{},"method":"ping"}',
  '{"jsonrpc":"2.0","id":7,"method":5}',
  '{"jsonrpc":"2.0","id":"nobody asked","result":{}}',
  "\u0000\u001b[2J",
  "[".repeat(50_000),
];

export function wireTo(baseUrl: string): Wire {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const connection = serveOverStdio({
    ...{ baseUrl, apiKey, stdin, stdout },
    scopes: ["read", "posts:write", "comments:write", "dm"],
    logger: createLogger({ level: "silent", secrets: [] }),
  });
  onTestFinished(() => connection.close());
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    connection,
    stdin,
    send: (...messages) => {
      for (const message of messages) {
        stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
      }
    },
    next: async () => {
      const { value = "" } = await lines.next();
      return JSON.parse(value);
    },
  };
}

/** The body is text, JSON or a stream. */
export async function post(
  url: string,
  body: string | object | Blob,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  return await fetch(url, {
    method: "POST",
    signal,
    headers: {
      authorization: `Bearer ${apiKey}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    // A streamed body has no Content-Length.
    ...(body instanceof Blob
      ? { body: body.stream(), duplex: "half" }
      : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
}

export const revision2025: Readonly<Record<string, string>> = {
  "mcp-protocol-version": "2025-11-25",
};
