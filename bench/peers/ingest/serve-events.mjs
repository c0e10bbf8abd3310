import { serve } from "./serve.mjs";
import { verified } from "./verify.mjs";

/** Serves deliveries. Verifies and parses each, calls `store` with its events, then responds. */
export function serveEvents(store) {
  serve((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const ok = verified(request.headers["x-service-signature"], body);
      const events = ok ? JSON.parse(body).events : [];
      store(events);
      const text = JSON.stringify({ stored: events.length, duplicates: 0 });
      response.writeHead(ok ? 200 : 401, {
        "content-type": "application/json",
        "content-length": text.length,
      });
      response.end(text);
    });
  });
}
