import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { withoutBotVariables } from "../support/scaffolded.ts";

/** Replaces the ports in a bot's `.env`, because the default ports may be in use. */
export async function usePorts(path: string, platform: string, bot: string): Promise<void> {
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text.replace(":4400", `:${platform}`)}\nPORT=${bot}\n`);
}

/** Returns a new user's environment. It has an author for the first commit, and no variables of a bot. */
export function environment(): Record<string, string | undefined> {
  // Keep npm's settings files, because they name the registry.
  const around = /^(?:npm_(?!config_(?:global|user)config$)|CI$|VITEST)/;
  const kept = Object.entries(withoutBotVariables()).filter(([name]) => !around.test(name));
  const who = { NAME: "Ada", EMAIL: "ada@example.org" };
  const git = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(who).map(([what, value]) => [`GIT_${role}_${what}`, value] as const),
  );
  // Without this setting, npm prints a spinner between its lines.
  const quiet = { TERM: "xterm", NPM_CONFIG_PROGRESS: "false" };
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries([...kept, ...git]), ...quiet, PATH: path };
}
