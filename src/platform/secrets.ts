import { randomBytes } from "node:crypto";

/** Pattern of a webhook secret. The prefix is documented (section 2), and bots separate several with commas. */
export const WEBHOOK_SECRET: RegExp = /^whsec_[\x21-\x2b\x2d-\x7e]+$/;

/** Pattern of a bearer token in an Authorization header. */
export const API_KEY: RegExp = /^[\x21-\x7e]+$/;

/** Form of a control token. Its characters need no escape in a URL or a header. */
export const CONTROL_TOKEN: RegExp = /^[\w-]{16,}$/;

export function newApiKey(): string {
  return `sbk_${randomBytes(24).toString("hex")}`;
}

export function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString("hex")}`;
}

export function newControlToken(): string {
  return randomBytes(24).toString("base64url");
}
