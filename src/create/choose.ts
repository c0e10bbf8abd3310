import type { Answers } from "./ask.ts";
import { obstacleToAll } from "./directory.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";
import type { Source } from "./project.ts";
import { headLine } from "./report.ts";

/**
 * Asks for what the command line has left open, if a user is there to answer. Otherwise the defaults are taken.
 *
 * @throws {UsageError} the directory is missing or cannot be a bot's
 * @throws {CreateError} nothing can be written there
 * @throws {Cancelled}
 */
export async function chooseAll(options: Options, source: Source, io: Io): Promise<Answers> {
  const { dir } = options;
  const isRefused = dir !== undefined && obstacleToAll(dir, io) !== undefined;
  const terminal = asks(options, io) && !isRefused ? io.terminal : undefined;
  if (terminal !== undefined) {
    // A fresh clone has no prompts yet.
    source.prepare?.();
    io.out(`${headLine(source.version)}\n`);
    const { ask } = await import("./ask.ts");
    return await ask(options, terminal, io);
  }
  if (dir === undefined) {
    throw new UsageError("Say where the bot shall go, for example: create-service-bot my-bot");
  }
  return { options: { ...options, dir }, asked: new Set(), hasHead: false };
}

function asks(options: Options, { terminal, env }: Io): boolean {
  const { dir, template, store, install, git, yes, json } = options;
  const isOpen = [dir, template, store, install, git].includes(undefined);
  return isOpen && terminal !== undefined && !yes && !json && isAttended(env);
}

/** Variables that agents set for the programs that they start. */
const AGENTS = [
  "AI_AGENT",
  "ANTIGRAVITY_AGENT",
  "AUGMENT_AGENT",
  "CLAUDECODE",
  "CLAUDE_CODE",
  "CODEX_CI",
  "CODEX_SANDBOX",
  "CODEX_THREAD_ID",
  "COPILOT_AGENT",
  "COPILOT_CLI",
  "CURSOR_AGENT",
  "CURSOR_TRACE_ID",
  "GEMINI_CLI",
  "GOOSE_PROVIDER",
  "OPENCODE",
  "OPENCODE_CLIENT",
  "REPL_ID",
];

/** Variables of services for continuous integration. Nearly all of them set the first. */
const SERVICES = ["CI", "CONTINUOUS_INTEGRATION", "BUILD_NUMBER", "TEAMCITY_VERSION", "TF_BUILD"];

/** Returns whether a user can answer at the terminal, by the environment. */
export function isAttended(env: Io["env"]): boolean {
  const isSet = (name: string) => !["", "0", "false"].includes(env[name]?.toLowerCase() ?? "");
  // A dumb terminal cannot go back to a line, which every question needs.
  return env["TERM"] !== "dumb" && ![...SERVICES, ...AGENTS].some(isSet);
}
