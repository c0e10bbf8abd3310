import { serve } from "./serve.mjs";
import { verified } from "./verify.mjs";

/**
 * Serves deliveries. Verifies and parses each, and calls `store` with its events and a function that responds with 200.
 *
 * @param own further functions that the benchmark can call
 */
export function serveEvents(store, own) {
  serve((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const respond = (status, stored) => {
        const text = JSON.stringify({ stored, duplicates: 0 });
        response.writeHead(status, {
          "content-type": "application/json",
          "content-length": text.length,
        });
        response.end(text);
      };
      if (!verified(request.headers["x-service-signature"], body)) return respond(401, 0);
      const { events } = JSON.parse(body);
      store(events, () => respond(200, events.length));
    });
  }, own);
}
