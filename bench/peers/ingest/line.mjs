import { middleware } from "@line/bot-sdk";
import express from "express";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const app = express();
app.post("/webhook", middleware({ channelSecret: SECRET }), (request, response) => {
  response.json(request.body.events.length);
});
serve(app);
