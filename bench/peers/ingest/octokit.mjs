import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const webhooks = new Webhooks({ secret: SECRET });
webhooks.on("issue_comment", () => {});
serve(createNodeMiddleware(webhooks));
