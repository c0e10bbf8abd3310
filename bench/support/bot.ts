import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { run, tail } from "../../src/create/io.ts";
import { withoutBotVariables } from "../../test/support/scaffolded.ts";

const CREATE_BOT = fileURLToPath(new URL("../../create-bot.js", import.meta.url));
const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/**
 * Creates a bot with create-bot, installs its production dependencies and compiles it, as its Dockerfile does. Its
 * service-bot is a packed copy of this checkout. Resolves to the bot's folder in `parent`.
 */
export async function makeBot(parent: string): Promise<string> {
  const flags = ["--yes", "--no-install", "--no-git", "--pm", "npm"];
  await must(process.execPath, [CREATE_BOT, "bot", ...flags], parent);
  const bot = join(parent, "bot");
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await must("npm", ["install", "--omit=dev", "--prefer-offline", ...quiet], bot);
  // The checkout has the same compiler.
  const compiler = join(MODULES, "typescript/bin/tsc");
  const types = ["--typeRoots", join(MODULES, "@types")];
  await must(process.execPath, [compiler, "--project", "tsconfig.build.json", ...types], bot);
  return bot;
}

async function must(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, output } = await run(command, args, { cwd, env: withoutBotVariables() });
  if (code !== 0) throw new Error(`${[command, ...args].join(" ")} failed:\n${tail(output)}`);
}
