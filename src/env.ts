/**
 * Preload module for `node --import service-bot/env src/main.ts`. Checks Node's version before Node loads TypeScript or
 * the database, and loads `.env` if the file exists. Variables already set in the environment take precedence.
 */
import { requireNode } from "./core/process.ts";
import { environmentSecrets } from "./core/secret-scrubber.ts";
import { loadDotEnv } from "./core/small-file.ts";
import { uncaughtErrors } from "./core/uncaught.ts";
import { messageOf } from "./errors.ts";

// Errors before the bot starts must not show the secrets either.
uncaughtErrors.add({ secrets: () => environmentSecrets(process.env) });
try {
  requireNode();
  loadDotEnv();
} catch (error) {
  process.stderr.write(`${uncaughtErrors.redact(messageOf(error))}\n`);
  process.exit(2);
}
