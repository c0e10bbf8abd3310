import express from "express";
import { Webhook } from "standardwebhooks";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const webhook = new Webhook(SECRET);
const app = express();
app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
  webhook.verify(request.body, request.headers);
  response.json({});
});
serve(app);
