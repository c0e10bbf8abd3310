import { fileURLToPath } from "node:url";
import { type Result, run } from "../faces/create.ts";

const CREATE_BOT = fileURLToPath(new URL("../../create-bot.js", import.meta.url));

/** Timeout in ms. Covers packing, and an installation from the npm registry. */
export const SCAFFOLD_TIMEOUT_MS = 180_000;

/**
 * Creates a bot from this checkout and installs it with npm, as a user would.
 *
 * @param settings npm settings, as environment variables
 */
export async function scaffoldedBot(
  cwd: string,
  name: string,
  flags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const argv = [CREATE_BOT, name, ...flags, "--pm", "npm", "--json"];
  const env = { ...process.env, ...settings };
  const { code, output } = await run(process.execPath, argv, { cwd, env });
  if (code !== 0) throw new Error(`create-bot.js ended with ${code}:\n${output}`);
  return JSON.parse(output.trimEnd().split("\n").at(-1) ?? "");
}

/**
 * Returns the environment without variables that configure a bot, so that the bot under test reads only its own .env.
 */
export function withoutBotVariables(): Record<string, string | undefined> {
  const names = /^(?:SERVICE_|DELIVERY$|HOST$|PORT$|WEBHOOK_PATH$|DATABASE_URL$|NODE_OPTIONS$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
}
