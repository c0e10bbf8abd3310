/**
 * Preload module for `node --import service-bot/env src/main.ts`. Checks Node's version before Node loads TypeScript or
 * the database, and loads `.env` if the file exists. Variables already set in the environment take precedence.
 */
import { existsSync } from "node:fs";
import { loadEnvFile } from "node:process";
import { requireNode } from "./core/process.ts";
import { messageOf } from "./errors.ts";

const file = ".env";

try {
  requireNode();
  if (existsSync(file)) loadEnvFile(file);
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(2);
}
