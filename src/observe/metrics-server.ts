import type { IncomingMessage, RequestListener } from "node:http";
import { hostCheck, isLoopback } from "../core/addresses.ts";
import { dropBody } from "../core/body.ts";
import { type Listening, listen } from "../core/listen.ts";
import { readRoute } from "../core/request-target.ts";
import { isBearer } from "../core/secrets.ts";
import { sendWebResponse } from "../core/web-adapter.ts";
import { CONTENT_TYPE, type Metrics } from "./metrics.ts";

/**
 * Serves the metrics on a separate port, so that clients of the webhook cannot read them.
 *
 * @param token bearer token that a request needs. Without one, every client of the port can read the metrics.
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} CONFIG_INVALID
 */
export async function serveMetrics(
  metrics: Pick<Metrics, "text">,
  host: string,
  port: number,
  token?: string,
): Promise<Listening> {
  // Other machines may use any name for this machine.
  const isAllowed = isLoopback(host) ? hostCheck([]) : () => true;
  const handle = async (request: IncomingMessage) => {
    // Discard the body. Otherwise, it would be buffered while the store responds.
    dropBody(request);
    if (!isAllowed(request)) return page(403, "Use the host name 127.0.0.1 or localhost.\n");
    if (token !== undefined && !isBearer(request.headers.authorization, token)) return refused();
    return await answer(request, metrics);
  };
  const listener: RequestListener = (request, response) =>
    void handle(request)
      .catch(() => page(500, "Cannot read the metrics.\n"))
      .then((answered) => sendWebResponse(response, answered));
  return await listen(listener, host, port, {
    set: { host: "METRICS_HOST", port: "METRICS_PORT" },
  });
}

function refused(): Response {
  const text = "Send Authorization: Bearer with the value of STATUS_TOKEN.\n";
  return page(401, text, { "www-authenticate": "Bearer" });
}

/** Responds to the raw request. A web `Request` would reject some Host headers that scrapers send. */
async function answer(
  { method, url = "/" }: IncomingMessage,
  metrics: Pick<Metrics, "text">,
): Promise<Response> {
  if (readRoute(url).path !== "/metrics") {
    return page(404, "Not found. The metrics are at /metrics.\n");
  }
  if (method !== "GET" && method !== "HEAD") {
    return page(405, "Use GET or HEAD.\n", { allow: "GET, HEAD" });
  }
  const text = await metrics.text();
  const headers = { "content-type": CONTENT_TYPE, "content-length": `${Buffer.byteLength(text)}` };
  return new Response(method === "HEAD" ? null : text, { headers });
}

function page(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const length = { "content-length": `${Buffer.byteLength(text)}` };
  const type = { "content-type": "text/plain; charset=utf-8" };
  return new Response(text, { status, headers: { ...type, ...length, ...headers } });
}
