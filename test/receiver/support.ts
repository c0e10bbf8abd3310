import { createServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import express from "express";
import { BodyBudget, createLogger } from "../faces/core.ts";
import { defaultLane } from "../faces/events.ts";
import type { Inbox, NewEvent, PutResult } from "../faces/inbox.ts";
import {
  type Endpoints,
  type HealthOptions,
  Receiver,
  type ReceiverOptions,
  toExpress,
  toFetch,
  toNodeListener,
} from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { loggedSender } from "../support/channels.ts";
import { listenUntilEnd } from "../support/listen.ts";

export const secret = "whsec_of_this_test";
/** The bot's API key, which also grants access to its status report. */
export const apiKey = "key_of_this_test";
export const limit = 2_000;
/** Unix time in seconds. */
export const now = 1_700_000_000;

/** Stores events by id. Detects duplicates as strictly as a real inbox. */
class FakeInbox implements Pick<Inbox, "put"> {
  readonly stored: Map<string, NewEvent> = new Map();
  puts: number = 0;

  async put(events: readonly NewEvent[]): Promise<PutResult> {
    this.puts += 1;
    const fresh = events.filter(({ id }) => !this.stored.has(id));
    for (const event of fresh) this.stored.set(event.id, event);
    return {
      stored: fresh.map(({ id }) => id),
      duplicates: events.length - fresh.length,
      unusable: fresh.filter(({ unusable }) => unusable !== undefined).length,
    };
  }
}

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly code?: string;
  readonly status?: number;
  readonly err?: { readonly message: string };
  /** Number of configured secrets. */
  readonly configured?: number;
}

export interface Rig {
  readonly inbox: FakeInbox;
  readonly receiver: Receiver;
  readonly endpoints: Endpoints;
  readonly budget: BodyBudget;
  readonly log: string[];
  readonly lines: () => LogLine[];
}

export function makeRig(
  options: Partial<ReceiverOptions> = {},
  health: Partial<HealthOptions> = {},
): Rig {
  const inbox = new FakeInbox();
  const log: string[] = [];
  const destination = { write: (line: string) => void log.push(line) };
  const logger = createLogger({ level: "trace", secrets: [], destination });
  const { budget = new BodyBudget(16_777_216) } = options;
  const receiver = new Receiver({
    inbox,
    path: "/webhook",
    maxBodyBytes: limit,
    budget,
    secrets: [secret],
    laneOf: defaultLane,
    clock: new ManualClock(now * 1000),
    log: logger,
    bot: loggedSender(logger),
    ...options,
  });
  return {
    inbox,
    receiver,
    budget,
    endpoints: {
      webhook: receiver,
      health: {
        isReady: async () => true,
        apiKey,
        report: async () => ({ ready: true }),
        webhookPath: "/webhook",
        ...health,
      },
    },
    log,
    lines: () => log.map((line) => JSON.parse(line) as LogLine),
  };
}

const actor = { username: "ada", name: "Ada" };

export function follow(id: string): Record<string, unknown> {
  const payload = { actor, entityType: "user", entityId: "u_1" };
  return { id, type: "follow", payload, createdAt: "2026-01-02T03:04:05.678Z" };
}

export function batchOf(...ids: string[]): string {
  return JSON.stringify({ events: ids.map(follow) });
}

export function bodyOf(bytes: number, id = "1"): string {
  const bare = JSON.stringify({ events: [{ ...follow(id), pad: "" }] });
  return JSON.stringify({ events: [{ ...follow(id), pad: "x".repeat(bytes - bare.length) }] });
}

export interface TestRequest {
  readonly method?: string;
  readonly path?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** True to send the body in chunks, without Content-Length. */
  readonly chunked?: boolean;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export function errorIn(answer: TestAnswer): { code: string; message: string } {
  const { error }: { error: { code: string; message: string } } = JSON.parse(answer.text);
  return error;
}

/** Returns a valid delivery, unless `more` makes it invalid. */
export function delivery(body: string | Uint8Array, more: TestRequest = {}): TestRequest {
  const headers = {
    "content-type": "application/json",
    "x-service-signature": sign(body, secret, now),
  };
  return {
    method: "POST",
    path: "/webhook",
    body,
    ...more,
    headers: { ...headers, ...more.headers },
  };
}

export type Send = (request: TestRequest) => Promise<TestAnswer>;

export function sendTo(
  url: string,
  { method = "GET", path = "/", ...more }: TestRequest,
): Promise<TestAnswer> {
  const { body = "", headers = {}, chunked = false } = more;
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}${path}`, { method, headers, agent: false });
    request.on("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on("error", reject);
    if (chunked) request.setHeader("transfer-encoding", "chunked");
    else if (method !== "GET" && method !== "HEAD") {
      request.setHeader("content-length", Buffer.byteLength(body));
    }
    request.end(body === "" ? undefined : body);
  });
}

export async function listening(
  listener: Parameters<typeof createServer>[1] & object,
): Promise<string> {
  const server = createServer(listener);
  return (await listenUntilEnd(server)).url;
}

/**
 * An adapter of the receiver. Standalone adapters respond to every request. The others pass on requests for other
 * paths.
 */
export interface Face {
  readonly name: string;
  readonly standalone: boolean;
  open(endpoints: Endpoints): Promise<Send>;
}

export interface SocketFace extends Face {
  listen(endpoints: Endpoints): Promise<string>;
}

function socketFace(name: string, standalone: boolean, listen: SocketFace["listen"]): SocketFace {
  return {
    name,
    standalone,
    listen,
    async open(endpoints) {
      const url = await listen(endpoints);
      return (request) => sendTo(url, request);
    },
  };
}

export const socketFaces: readonly SocketFace[] = [
  socketFace("node:http", true, (endpoints) => listening(toNodeListener(endpoints))),
  socketFace("Express", false, (endpoints) => listening(expressApp(endpoints))),
];

function expressApp(endpoints: Endpoints, options: Parameters<typeof toExpress>[1] = {}) {
  const app = express();
  app.use(toExpress(() => endpoints, options));
  return app.use((_request, response) => void response.status(418).send("the application"));
}

/** An Express application that leaves its health checks to the bot. */
const healthyApp: Face = socketFace("Express with health", false, (endpoints) =>
  listening(expressApp(endpoints, { servesHealth: true })),
);

export const web: Face = {
  name: "web",
  standalone: true,
  async open(endpoints) {
    return (request) => sendOverWeb(endpoints, toWeb(request));
  },
};

async function sendOverWeb(endpoints: Endpoints, request: Request): Promise<TestAnswer> {
  const response = await toFetch(endpoints)(request);
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), text: await response.text() };
}

/** Streams a body to the bot as a web-standard request. */
export function streamTo(
  endpoints: Endpoints,
  body: ReadableStream,
  headers: Readonly<Record<string, string>> = {},
  { method = "POST", path = "/webhook" }: Pick<TestRequest, "method" | "path"> = {},
): Promise<TestAnswer> {
  const init = { method, headers, body, duplex: "half" as const };
  return sendOverWeb(endpoints, new Request(`http://bot.test${path}`, init));
}

export const faces: readonly Face[] = [...socketFaces, web];

/** Adapters that serve health checks. */
export const healthFaces: readonly Face[] = [
  ...faces.filter(({ standalone }) => standalone),
  healthyApp,
];

function toWeb({
  method = "GET",
  path = "/",
  body = "",
  headers = {},
  chunked,
}: TestRequest): Request {
  const list = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const stream = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 512)
        controller.enqueue(bytes.subarray(at, at + 512));
      controller.close();
    },
  });
  const init = { method, headers: list };
  if (method === "GET" || method === "HEAD") return new Request(`http://bot.test${path}`, init);
  if (!chunked) return new Request(`http://bot.test${path}`, { ...init, body: Buffer.from(bytes) });
  return new Request(`http://bot.test${path}`, { ...init, body: stream, duplex: "half" });
}
