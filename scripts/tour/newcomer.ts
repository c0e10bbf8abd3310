import { readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { withoutBotVariables } from "../../test/support/scaffolded.ts";

/** The usual ports may be taken here. */
export async function usePorts(path: string, platform: string, bot: string): Promise<void> {
  const text = await readFile(path, "utf8");
  await writeFile(path, `${text.replace(":4400", `:${platform}`)}\nPORT=${bot}\n`);
}

/** The bot's variables come from its .env, and the first commit needs somebody who makes it. */
export function environment(): Record<string, string | undefined> {
  // Where npm's own settings are, such as its registry, stays known.
  const around = /^(?:npm_(?!config_(?:global|user)config$)|CI$|VITEST)/;
  const kept = Object.entries(withoutBotVariables()).filter(([name]) => !around.test(name));
  const who = { NAME: "Ada", EMAIL: "ada@example.org" };
  const git = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(who).map(([what, value]) => [`GIT_${role}_${what}`, value] as const),
  );
  // npm would draw a wheel between its lines.
  const quiet = { TERM: "xterm", NPM_CONFIG_PROGRESS: "false" };
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter);
  return { ...Object.fromEntries([...kept, ...git]), ...quiet, PATH: path };
}
