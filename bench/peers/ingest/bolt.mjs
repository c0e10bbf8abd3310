import bolt from "@slack/bolt";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const receiver = new bolt.HTTPReceiver({ signingSecret: SECRET, logLevel: "error" });
const authorize = async () => ({ botToken: "xoxb-bench", botId: "B1", botUserId: "U2" });
const app = new bolt.App({ receiver, authorize, logLevel: "error" });
app.event("app_mention", async () => {});
serve(receiver.requestListener);
