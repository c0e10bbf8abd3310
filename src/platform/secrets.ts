import { randomBytes } from "node:crypto";

/**
 * Section 2 of the platform document defines the prefix. Commas are excluded, because bots use them to separate several
 * secrets.
 */
export const WEBHOOK_SECRET: RegExp = /^whsec_[\x21-\x2b\x2d-\x7e]+$/;

/** Matches a bearer token in an Authorization header. */
export const API_KEY: RegExp = /^[\x21-\x7e]+$/;

/** Matches a control token, whose characters need no escaping in a URL or a header. */
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
