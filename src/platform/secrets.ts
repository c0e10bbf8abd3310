import { randomBytes } from "node:crypto";

/**
 * Matches a webhook secret. Section 2 of the platform document defines the prefix. A secret contains no comma, because
 * bots separate several secrets with commas.
 */
export const WEBHOOK_SECRET: RegExp = /^whsec_[\x21-\x2b\x2d-\x7e]+$/;

export const API_KEY: RegExp = /^[\x21-\x7e]+$/;

/** Matches a control token. Its characters need no escaping in a URL or a header. */
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
