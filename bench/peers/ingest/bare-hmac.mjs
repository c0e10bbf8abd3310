import { serve } from "./serve.mjs";
import { verified } from "./verify.mjs";

// Verifies and parses each request and responds, but stores nothing.
serve((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const ok = verified(request.headers["x-service-signature"], body);
    const count = ok ? JSON.parse(body).events.length : 0;
    const text = JSON.stringify({ stored: count, duplicates: 0 });
    response.writeHead(ok ? 200 : 401, {
      "content-type": "application/json",
      "content-length": text.length,
    });
    response.end(text);
  });
});
