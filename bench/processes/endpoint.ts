import { createServer } from "node:http";
import { answer } from "../harness/child.ts";
import { listenOnLoopback } from "../support/loopback.ts";

/**
 * The fastest endpoint that node:http makes: it reads the body, counts what the header says is in it,
 * and answers. What it can take is the limit of whoever delivers to it.
 */
let events = 0;
let reply = { status: 200, body: Buffer.alloc(0) };
let awaited: { readonly count: number; done(): void } | undefined;

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    const { status, body } = reply;
    const headers = { "content-type": "application/json", "content-length": body.byteLength };
    response.writeHead(status, headers).end(body);
    if (status !== 200) return;
    events += Number(request.headers["x-service-event-count"] ?? 0);
    if (awaited !== undefined && events >= awaited.count) awaited.done();
  });
});

const handlers = {
  /** Resolves to its origin. */
  listen: (): Promise<string> => listenOnLoopback(server),
  /** What every request is answered with from now on. */
  reply: (status: number, body: string): void => {
    reply = { status, body: Buffer.from(body) };
  },
  /** Counts from 0 again. */
  forget: (): void => {
    events = 0;
  },
  /** Resolves when so many events have come since `forget`. */
  received: (count: number): Promise<void> =>
    new Promise((resolve) => {
      awaited = { count, done: resolve };
      if (events >= count) resolve();
    }),
};

export type Endpoint = typeof handlers;

answer(handlers);
