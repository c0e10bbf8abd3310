import express from "express";
import { serve } from "../ingest/serve.mjs";
import { verified } from "../ingest/verify.mjs";

const { PLATFORM, ANSWER } = process.env;
const headers = { "content-type": "application/json", authorization: "Bearer sk_bench_0123456789" };

async function reply({ payload }) {
  const url = `${PLATFORM}/api/v1/dm/conversations/${payload.conversationId}/messages`;
  const body = JSON.stringify({ text: `You said: ${payload.excerpt}` });
  const response = await fetch(url, { method: "POST", headers, body });
  await response.json();
}

// A bot without an inbox, as most tutorials show it. A crash loses events that it has already acknowledged.
const app = express();
app.post("/webhook", express.raw({ type: "*/*" }), async (request, response) => {
  if (!verified(request.headers["x-service-signature"], request.body)) {
    response.status(401).json({});
    return;
  }
  const { events } = JSON.parse(request.body);
  if (ANSWER === "first") response.json({});
  await Promise.all(events.map(reply));
  if (ANSWER !== "first") response.json({});
});
serve(app);
