import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { onTestFinished } from "vitest";
import { type CallOptions, Client, type ClientOptions } from "../faces/client.ts";
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

type Operation = (client: Client, options?: CallOptions) => PromiseLike<unknown>;

/** Every operation in section 4 of the platform document, by its method and path template. The id is `id_1`. */
export const operations: Readonly<Record<string, Operation>> = {
  "GET /me": (client, options) => client.me(options),
  "GET /feed": (client, options) => client.feed(options),
  "GET /search": (client, options) => client.search({ text: "hi" }, options),
  "GET /events": (client, options) => client.events({}, options),
  "GET /users/{name}": (client, options) => client.users.get("id_1", options),
  "GET /posts/{id}": (client, options) => client.posts.get("id_1", options),
  "GET /posts/{id}/comments": (client, options) => client.posts.comments("id_1", options),
  "GET /dm/conversations": (client, options) => client.dms.conversations(options),
  "GET /dm/conversations/{id}/messages": (client, options) => client.dms.messages("id_1", options),
  "POST /uploads": (client, options) => client.upload("https://images.example/a.png", options),
  "POST /posts": (client, options) => client.posts.create({ text: "hi" }, options),
  "POST /posts/{id}/comments": (client, options) =>
    client.posts.comment("id_1", { text: "hi" }, options),
  "POST /dm/conversations/{id}/messages": (client, options) =>
    client.dms.send("id_1", { text: "hi" }, options),
};

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

/** Creates a client without retries that sends its requests to a function. */
export function clientOver(
  fetch: ClientOptions["fetch"],
  options: Partial<ClientOptions> = {},
): Client {
  return new Client({ baseUrl: "http://platform.test", apiKey, retries: 0, fetch, ...options });
}

/** Creates a client whose requests fail with a thrown value. */
export const failingClient = (thrown: unknown): Client => clientOver(() => Promise.reject(thrown));

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
