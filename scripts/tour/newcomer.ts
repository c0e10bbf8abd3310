import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { withoutBotVariables } from "../../test/support/scaffolded.ts";

/** Sets other ports in a bot's `.env`, because the usual ones may be taken. */
export async function usePorts(path: string, platform: string, bot: string): Promise<void> {
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text.replace(":4400", `:${platform}`)}\nPORT=${bot}\n`);
}

/** Returns a newcomer's environment: an author for the first commit, and no variables of a bot, which its `.env` has. */
export function environment(): Record<string, string | undefined> {
  // The files of npm's settings stay, because they name the registry.
  const around = /^(?:npm_(?!config_(?:global|user)config$)|CI$|VITEST)/;
  const kept = Object.entries(withoutBotVariables()).filter(([name]) => !around.test(name));
  const who = { NAME: "Ada", EMAIL: "ada@example.org" };
  const git = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(who).map(([what, value]) => [`GIT_${role}_${what}`, value] as const),
  );
  // npm would draw a spinner between its lines.
  const quiet = { TERM: "xterm", NPM_CONFIG_PROGRESS: "false" };
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries([...kept, ...git]), ...quiet, PATH: path };
}
