/**
 * Preload module for `node --import service-bot/env src/main.ts`. Checks Node's version before Node loads TypeScript or
 * the database, and loads `.env` if the file exists. Variables already set in the environment take precedence.
 */
import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { requireNode } from "./core/process.ts";
import { environmentSecrets } from "./core/secret-scrubber.ts";
import { uncaughtErrors } from "./core/uncaught.ts";
import { messageOf } from "./errors.ts";

const file = ".env";

// Errors before the bot starts must not show the secrets either.
uncaughtErrors.add({ secrets: () => environmentSecrets(process.env) });
try {
  requireNode();
  if (existsSync(file)) loadEnvFile(file);
} catch (error) {
  process.stderr.write(`${uncaughtErrors.redact(messageOf(error))}\n`);
  process.exit(2);
}
