/**
 * `node --import service-bot/env src/main.ts`: checks the version of Node before it meets a TypeScript
 * file or the database, and reads `.env` where there is one. What the environment has already set wins.
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
