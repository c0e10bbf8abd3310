import { randomBytes } from "node:crypto";

/** What a webhook secret looks like: the prefix is documented (section 2); bots list several with commas. */
export const WEBHOOK_SECRET: RegExp = /^whsec_[\x21-\x2b\x2d-\x7e]+$/;

/** What fits into an Authorization header as a bearer token. */
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
