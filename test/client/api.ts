import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { onTestFinished } from "vitest";
import { Client, type ClientOptions } from "../faces/client.ts";
import { type ChannelMessages, type Listeners, subscribe } from "../faces/observe.ts";
import { listenUntilEnd } from "../support/listen.ts";

export const apiKey = "key-of-this-test";

export interface Call {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Api {
  readonly url: string;
  readonly calls: readonly Call[];
  readonly client: Client;
}

export type Responder = (response: ServerResponse, request: IncomingMessage) => void;

export async function serve(
  respond: Responder,
  options: Partial<ClientOptions> = {},
): Promise<Api> {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    calls.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    respond(response, request);
  });
  const { url } = await listenUntilEnd(server);
  return {
    url,
    calls,
    client: new Client({ baseUrl: url, apiKey, timeoutMs: 10_000, retries: 0, ...options }),
  };
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Responder {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => {
      throw new Error(`resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** Collects a sender's messages on a channel until the test ends. */
export function messagesOf<K extends keyof ChannelMessages>(
  sender: object,
  name: K,
): Omit<ChannelMessages[K], "bot">[] {
  const messages: Omit<ChannelMessages[K], "bot">[] = [];
  const collect = ({ bot: _, ...message }: ChannelMessages[K]) => messages.push(message);
  onTestFinished(subscribe(sender, { [name]: collect } as Listeners));
  return messages;
}
