import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commands, UsageError } from "../faces/cli.ts";
import { flags as scaffolderFlags } from "../faces/create.ts";
import { root } from "./markdown.ts";

/** Programs from outside the project. Their arguments are not checked. */
const OTHERS = new Set(
  "cd caddy claude cp crontab curl date docker echo fly gcloud git grype journalctl jq kubectl litestream mkdir openssl pg_dump pg_restore ping printf promtool psql railway rm rsync sed sh sort sqlite3 sudo systemctl systemd-analyze tar trivy uniq useradd install chown chmod".split(
    " ",
  ),
);

/** npm commands that do not run a script. */
const NPM = new Set(["ci", "install", "create", "publish", "audit", "sbom"]);

const scripts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
).scripts;

const botScripts = new Set([
  ...Object.keys(
    JSON.parse(readFileSync(join(root, "templates/starter/_package.json"), "utf8")).scripts,
  ),
  // Bots created with `--store postgres` have this script.
  "db",
]);

export function commandsOf(script: string): string[] {
  return script
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(/(?:^|\s+)#.*$/, ""))
    .flatMap((line) => unquoted(line).split(/&&|\|\||\||;/))
    .flatMap((command) => [...command.split("$("), ...[]])
    .map((command) => command.replaceAll(/\)/g, "").trim())
    .map((command) => command.replace(/^(?:for \w+ in|do|done|break)\b\s*/, ""))
    .map((command) => command.replace(/^(?:[A-Za-z_]\w*=\S*\s*)+/, ""))
    .filter((command) => command !== "");
}

/** Replaces each quoted string with a letter, because its content is not a command. */
function unquoted(line: string): string {
  return line.replaceAll(/'[^']*'|"[^"]*"/g, "Q");
}

/** Returns the problem with a documented command, or `undefined` if there is none. */
export function problemOf(command: string): string | undefined {
  const [program = "", ...words] = command.split(/\s+/);
  if (OTHERS.has(program)) return undefined;
  switch (program) {
    case "service-bot":
      return serviceBotProblem(words);
    case "npx":
      return npxProblem(words);
    case "npm":
      return npmProblem(words);
    case "node":
      return nodeProblem(words);
    default:
      return `${program} is no command that is known here`;
  }
}

function npxProblem(words: readonly string[]): string | undefined {
  const [name, ...rest] = words.filter((word) => word !== "-y");
  if (name === "service-bot") return serviceBotProblem(rest);
  if (name === "pino-pretty") return undefined;
  if (name === "node") return nodeProblem(rest);
  if (name !== "vitest") return `npx ${name} is not known here`;
  const missing = rest.slice(1).find((path) => path.includes("/") && !existsSync(join(root, path)));
  return missing && `${missing} is not there`;
}

function npmProblem([name = "", ...words]: readonly string[]): string | undefined {
  if (name === "create") return scaffolderProblem(words);
  if (NPM.has(name)) return undefined;
  const script = name === "run" ? words[0] : name;
  if (script === undefined || (!Object.hasOwn(scripts, script) && !botScripts.has(script))) {
    return `there is no script ${script}`;
  }
  const code = scripts[script];
  const entry = /^(?:node|vitest run --config) (\S+)/.exec(code ?? "")?.[1];
  if (entry === undefined) return undefined;
  const sources = sourcesBeside(join(root, entry));
  const unknown = flagsIn(words).find((flag) => !takes(sources, flag));
  return unknown && `npm run ${script} takes no ${unknown}`;
}

const sources = new Map<string, string>();

function sourcesBeside(entry: string): string {
  const known = sources.get(entry);
  if (known !== undefined) return known;
  const files = entry.endsWith("main.ts") ? ownSources(dirname(entry)) : [entry];
  const text = files.map((path) => readFileSync(path, "utf8")).join("\n");
  sources.set(entry, text);
  return text;
}

/** Skips node_modules, such as the packages that the benchmarks compare with. */
function ownSources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : ownSources(path);
    return path.endsWith(".ts") ? [path] : [];
  });
}

function takes(sources: string, flag: string): boolean {
  const name = flag.slice(2);
  return sources.includes(`${name}: { type:`) || sources.includes(`"${name}": { type:`);
}

/** Checks an `npm create service-bot` command, whose flags follow `--`. */
function scaffolderProblem(words: readonly string[]): string | undefined {
  const unknown = flagsIn(words).find((flag) => !Object.hasOwn(scaffolderFlags, flag.slice(2)));
  return unknown && `the scaffolder takes no ${unknown}`;
}

function nodeProblem(words: readonly string[]): string | undefined {
  const file = words.find((word) => /\.[jt]s$/.test(word));
  if (file === undefined) return "node is given no file";
  const places = [file, `templates/starter/${file}`, file.replace(/^service-bot\//, "")];
  if (!places.some((path) => existsSync(join(root, path)))) return `${file} is not there`;
  if (file.endsWith("create-bot.js")) return scaffolderProblem(words);
  const path = join(root, file);
  if (!file.endsWith("main.ts") || !existsSync(path)) return undefined;
  const unknown = flagsIn(words).find((flag) => !takes(sourcesBeside(path), flag));
  return unknown && `${file} takes no ${unknown}`;
}

function serviceBotProblem([name = "", ...words]: readonly string[]): string | undefined {
  if (name.startsWith("--")) return undefined;
  if (!Object.hasOwn(commands, name)) return `service-bot has no command ${name}`;
  const [first = ""] = words;
  const known = usageOf(name, /^[a-z]+$/.test(first) ? first : undefined);
  if (known === undefined) return `service-bot ${name} has no ${first}`;
  const unknown = flagsIn(words).find((flag) => !known.includes(flag) && flag !== "--help");
  return unknown && `service-bot ${name} takes no ${unknown}`;
}

function flagsIn(words: readonly string[]): string[] {
  return words.flatMap((word) => word.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? []);
}

/** Returns the usage text of a command or action, or `undefined` if it does not exist. */
function usageOf(name: string, action: string | undefined): string | undefined {
  const { usage = "", details = "" } = commands[name] ?? {};
  if (name !== "inbox") return `${usage}\n${details}`;
  return actionsOf(details).get(action ?? "stats");
}

export function actionsOf(usage: string): ReadonlyMap<string, string> {
  const [list = "", filter = ""] = usage.split("FILTER: ");
  const lines = list.replaceAll("FILTER", filter.split("\n\n")[0] ?? "").split("\n");
  const actions = new Map<string, string>();
  let current = "";
  for (const line of lines.filter((line) => line !== "")) {
    const [, name] = /^ {2}([a-z]+)\b/.exec(line) ?? [];
    current = name ?? current;
    actions.set(current, `${actions.get(current) ?? ""} ${line}`);
  }
  return actions;
}

/** Returns the flags that a command or action accepts, taken from its error about an unknown flag. */
export async function flagsTaken(name: string, ...action: string[]): Promise<readonly string[]> {
  return await namesTaken(name, ...action, "--no-such-flag");
}

/** Returns the names that a command accepts, taken from its error about an unknown name. */
export async function namesTaken(name: string, ...args: string[]): Promise<readonly string[]> {
  try {
    await commands[name]?.run(args);
    return [];
  } catch (error) {
    return error instanceof UsageError ? error.known : [];
  }
}
