import { serve } from "./serve.mjs";

// Measures the cost of node:http alone.
serve((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    Buffer.concat(chunks);
    response.writeHead(200, { "content-type": "application/json", "content-length": 2 });
    response.end("{}");
  });
});
