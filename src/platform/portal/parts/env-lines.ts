export interface BotSecrets {
  /** Address of the platform. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly webhookSecret?: string;
}

/** The lines that a bot's .env needs, of what is given. */
export function envLines({ baseUrl, apiKey, webhookSecret }: BotSecrets): string {
  const lines = {
    SERVICE_BASE_URL: baseUrl,
    SERVICE_API_KEY: apiKey,
    SERVICE_WEBHOOK_SECRET: webhookSecret,
  };
  return Object.entries(lines)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
}
