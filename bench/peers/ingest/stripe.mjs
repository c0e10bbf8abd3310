import express from "express";
import Stripe from "stripe";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const stripe = new Stripe("sk_test_bench");
const app = express();
app.post("/webhook", express.raw({ type: "application/json" }), (request, response) => {
  stripe.webhooks.constructEvent(request.body, request.headers["stripe-signature"], SECRET);
  response.json({ received: true });
});
serve(app);
