import { generateKeyPairSync } from "node:crypto";
import { createNodeMiddleware, Probot } from "probot";
import { SECRET } from "../../support/formats.ts";
import { serve } from "./serve.mjs";

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: "error" });
serve(await createNodeMiddleware((app) => app.on("issue_comment", () => {}), { probot }));
