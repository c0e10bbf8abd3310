import { randomBytes } from "node:crypto";

/** The secrets of a new bot. They are good for the local platform; the real ones come from the portal. */
export interface Secrets {
  readonly apiKey: string;
  readonly webhookSecret: string;
  /** Of the database server that the bot's compose files start. */
  readonly databasePassword: string;
}

export function newSecrets(): Secrets {
  return {
    apiKey: `sbk_${randomBytes(24).toString("hex")}`,
    webhookSecret: `whsec_${randomBytes(32).toString("hex")}`,
    databasePassword: randomBytes(24).toString("hex"),
  };
}
