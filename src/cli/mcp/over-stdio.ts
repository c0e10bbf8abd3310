import { Console } from "node:console";
import { loadPlatform } from "../../config.ts";
import { createLogger } from "../../core/logger.ts";
import type { Scope } from "../../core/scope.ts";
import { serveOverStdio } from "../../mcp/stdio.ts";
import { untilSignal } from "../until-signal.ts";

/** Serves whoever has started this program, until it closes standard input. */
export async function overStdio(scopes: readonly Scope[] | undefined): Promise<number> {
  const { baseUrl, apiKey, logLevel } = loadPlatform(process.env);
  // Standard output belongs to the protocol: a stray line on it would end the connection.
  globalThis.console = new Console(process.stderr, process.stderr);
  const logger = createLogger({ level: logLevel, secrets: [apiKey], destination: process.stderr });
  const { stdin, stdout } = process;
  const connection = serveOverStdio({ baseUrl, apiKey, scopes, logger, stdin, stdout });
  await Promise.race([connection.ended, untilSignal()]);
  await connection.close();
  // Open, it would keep the process alive.
  stdin.destroy();
  return 0;
}
