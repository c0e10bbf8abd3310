import { processOwners } from "../core/process.ts";
import { printableText } from "../core/terminal.ts";
import { ConfigError, type ServiceBotError } from "../errors.ts";

/**
 * Ends the process of a bot that cannot go on, with one sentence: with 2 if its owner has set it up wrongly, otherwise
 * with 1. Other bots that own the process stop first.
 */
export function exitWith(error: ServiceBotError): Promise<void> {
  process.stderr.write(`${printableText(error.message)}\n`);
  return processOwners.end(error instanceof ConfigError || error.code === "NODE_TOO_OLD" ? 2 : 1);
}
