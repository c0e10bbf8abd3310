import type { Store } from "./choices.ts";
import type { Secrets } from "./secrets.ts";

/** The `.env` of a new bot: its example with generated secrets in place of the blanks. */
export function envFile(example: string, secrets: Secrets, store: Store): string {
  const { apiKey, webhookSecret, databasePassword } = secrets;
  const values = [
    ["SERVICE_API_KEY", apiKey],
    ["SERVICE_WEBHOOK_SECRET", webhookSecret],
    ...(store === "postgres" ? ([["PGPASSWORD", databasePassword]] as const) : []),
  ] as const;
  return values.reduce((text, [name, value]) => set(text, name, value), example);
}

function set(text: string, name: string, value: string): string {
  const line = new RegExp(`^${name}=.*$`, "m");
  if (!line.test(text)) throw new Error(`The template's .env.example has no line for ${name}.`);
  return text.replace(line, () => `${name}=${value}`);
}
