import { printableText } from "../core/terminal.ts";
import { ConfigError, type ServiceBotError } from "../errors.ts";

/** Ends the process of a bot that cannot go on, in one sentence: with 2 where its owner has set it up wrongly, else 1. */
export function exitWith(error: ServiceBotError): never {
  process.stderr.write(`${printableText(error.message)}\n`);
  process.exit(error instanceof ConfigError || error.code === "NODE_TOO_OLD" ? 2 : 1);
}
