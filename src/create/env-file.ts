import type { Secrets } from "./secrets.ts";

/** The `.env` of a new bot: the example with generated secrets in place of its blanks. */
export function envFile(example: string, { apiKey, webhookSecret }: Secrets): string {
  return set(set(example, "SERVICE_API_KEY", apiKey), "SERVICE_WEBHOOK_SECRET", webhookSecret);
}

function set(text: string, name: string, value: string): string {
  const line = new RegExp(`^${name}=.*$`, "m");
  if (!line.test(text)) throw new Error(`The template's .env.example has no line for ${name}.`);
  return text.replace(line, () => `${name}=${value}`);
}
