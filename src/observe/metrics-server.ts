import type { IncomingMessage, ServerResponse } from "node:http";
import { hostCheck, isLoopback } from "../core/addresses.ts";
import { dropBody } from "../core/body.ts";
import { type Listening, listen } from "../core/listen.ts";
import { CONTENT_TYPE, type Metrics } from "./metrics.ts";

interface Page {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly allow?: string;
}

/**
 * Serves the metrics on a port of their own, so that a network that reaches the webhook does not reach them.
 *
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID
 */
export async function serveMetrics(
  metrics: Pick<Metrics, "text">,
  host: string,
  port: number,
): Promise<Listening> {
  const isForHere = isLoopback(host);
  // On an address for other machines, the names by which they call this one are unknown.
  const mayAsk = isForHere ? hostCheck([]) : () => true;
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    pageFor(request, mayAsk, metrics).then(
      (page) => write(request, response, page),
      () => write(request, response, plain(500, "The metrics cannot be read.")),
    );
  return await listen((request, response) => void answer(request, response), host, port, {
    set: { host: "METRICS_HOST", port: "METRICS_PORT" },
  });
}

async function pageFor(
  request: IncomingMessage,
  mayAsk: (request: IncomingMessage) => boolean,
  metrics: Pick<Metrics, "text">,
): Promise<Page> {
  const { method, url = "/" } = request;
  // A body that is not read while the store answers would keep each of its chunks.
  dropBody(request);
  if (!mayAsk(request)) return plain(403, "Ask for 127.0.0.1 or localhost.");
  const [path] = url.split("?");
  if (path !== "/metrics") return plain(404, "Nothing is here. The metrics are at /metrics.");
  if (method !== "GET" && method !== "HEAD") {
    return { ...plain(405, "Use GET or HEAD."), allow: "GET, HEAD" };
  }
  return { status: 200, type: CONTENT_TYPE, text: await metrics.text() };
}

function plain(status: number, text: string): Page {
  return { status, type: "text/plain; charset=utf-8", text: `${text}\n` };
}

function write(request: IncomingMessage, response: ServerResponse, page: Page): void {
  const { status, type, text, allow } = page;
  response.writeHead(status, {
    "content-type": type,
    "content-length": Buffer.byteLength(text),
    ...(allow === undefined ? {} : { allow }),
  });
  response.end(request.method === "HEAD" ? undefined : text);
}
