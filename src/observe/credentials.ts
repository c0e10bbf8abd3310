import type { Config } from "../config.ts";
import { lastFour } from "../core/secrets.ts";

/** Last four characters of the credentials in use, to distinguish them during a rotation. */
export interface CredentialsStatus {
  /** End of `SERVICE_API_KEY`. `undefined` if the key has fewer than 16 characters. */
  readonly apiKeyEnd: string | undefined;
  /**
   * Ends of the secrets in `SERVICE_WEBHOOK_SECRET`, newest first. `undefined` stands for a secret with fewer than 16
   * characters after `whsec_`.
   */
  readonly webhookSecretEnds: readonly (string | undefined)[];
}

export function credentialsOf({
  apiKey,
  webhookSecrets,
}: Pick<Config, "apiKey" | "webhookSecrets">): CredentialsStatus {
  return { apiKeyEnd: lastFour(apiKey), webhookSecretEnds: webhookSecrets.map(lastFour) };
}
