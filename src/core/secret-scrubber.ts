import { databaseProblem, readDatabase, secretsOf } from "./database-address.ts";
import { scrubber } from "./safe-text.ts";
import { trimEndOf } from "./text.ts";

/** Variables whose values are secrets, or lists of secrets separated by commas. */
const SECRET_VARIABLES = [
  "SERVICE_API_KEY",
  "SERVICE_WEBHOOK_SECRET",
  "SERVICE_CONTROL_TOKEN",
  "STATUS_TOKEN",
  "PGPASSWORD",
];

/** Returns the secrets in an environment, even if its configuration is invalid. */
export function environmentSecrets(env: Readonly<Record<string, string | undefined>>): string[] {
  const values = SECRET_VARIABLES.flatMap((name) => env[name]?.split(",") ?? []);
  const { DATABASE_URL: address = "" } = env;
  const ofDatabase =
    databaseProblem(address) === undefined ? secretsOf(readDatabase(address), env) : [];
  return [...values.map((value) => value.trim()), ...ofDatabase].filter((value) => value !== "");
}

/**
 * Creates a function that redacts secrets, even if they are URL-encoded, or part of a text in base64 or hexadecimal
 * digits. Too slow for every log line.
 */
export function secretScrubber(secrets: readonly string[]): (text: string) => string {
  return scrubber(secrets.flatMap((secret) => [secret, ...encodingsOf(secret)]));
}

function encodingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  const urls = secret.isWellFormed() ? [encodeURIComponent(secret), encodeURI(secret)] : [];
  const base64 = (["base64", "base64url"] as const).flatMap((encoding) => [
    bytes.toString(encoding),
    ...[0, 1, 2].map((offset) => innerBase64(bytes, offset, encoding)),
  ]);
  return [...urls, hex, hex.toUpperCase(), ...base64];
}

/**
 * Returns the characters that only the secret determines, if the secret is part of a longer text in base64.
 *
 * @param offset position of the secret in the text, modulo 3
 */
function innerBase64(bytes: Buffer, offset: number, encoding: "base64" | "base64url"): string {
  const text = trimEndOf(Buffer.concat([Buffer.alloc(offset), bytes]).toString(encoding), "=");
  // The first and the last character also encode bits of the neighbouring bytes.
  const start = offset === 0 ? 0 : offset + 1;
  const isShared = ((offset + bytes.length) * 8) % 6 !== 0;
  return text.slice(start, isShared ? -1 : undefined);
}
