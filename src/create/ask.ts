import { join, resolve } from "node:path";
import { type Asked, type Store, stores, type Template, templates } from "./choices.ts";
import { directoryProblem } from "./directory.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";
import { detectPackageManager } from "./package-manager.ts";
import { askChoice, askText, askWhether } from "./prompts.ts";
import { repositoryAround } from "./repository.ts";
import type { Terminal } from "./terminal.ts";

export interface Answers {
  /** The options, with what was answered in them. */
  readonly options: Options & { readonly dir: string };
  readonly asked: ReadonlySet<Asked>;
  /** True when the head line has been printed, above the questions. */
  readonly begun: boolean;
}

const DIRECTORY = "my-bot";

const templateHints: Readonly<Record<Template, string>> = {
  starter: "a file per event type, tests, Docker, https, CI",
  minimal: "one file and its test",
};

const storeHints: Readonly<Record<Store, string>> = {
  sqlite: "a file; nothing to run beside the bot",
  postgres: "a server; for several instances of the bot",
};

/**
 * Asks for each choice that the command line has left open. This file alone loads the prompts.
 *
 * @throws {Cancelled}
 */
export async function ask(options: Options, terminal: Terminal, io: Io): Promise<Answers> {
  const asked = new Set<Asked>();
  const unless = async <T>(name: Asked, said: T | undefined, question: () => Promise<T>) => {
    if (said !== undefined) return said;
    const answer = await question();
    asked.add(name);
    return answer;
  };
  const dir = await unless("dir", options.dir, () => askDirectory(terminal, io));
  const template = await unless("template", options.template, () =>
    askChoice("Template", withHints(templates, templateHints), terminal),
  );
  const store = await unless("store", options.store, () =>
    askChoice("Store", withHints(stores, storeHints), terminal),
  );
  const packageManager = options.packageManager ?? detectPackageManager(io.env);
  const install = await unless("install", options.install, () =>
    askWhether(`Install with ${packageManager}?`, terminal),
  );
  // Inside of a repository none is started in any case.
  const asksGit = options.git === undefined && !repositoryAround(resolve(io.cwd, dir));
  const git = asksGit
    ? await unless("git", undefined, () => askWhether("Initialize git?", terminal))
    : options.git;
  return { options: { ...options, dir, template, store, install, git }, asked, begun: true };
}

async function askDirectory(terminal: Terminal, io: Io): Promise<string> {
  const problemOf = (answer: string) => directoryProblem(atHome(answer, io), io);
  return atHome(await askText("Directory", DIRECTORY, problemOf, terminal), io);
}

/** No shell has seen this answer, so nothing else replaces the `~`. */
function atHome(answer: string, { env, platform }: Io): string {
  const home = platform === "win32" ? env["USERPROFILE"] : env["HOME"];
  const rest = /^~(?:[/\\](.*))?$/s.exec(answer);
  return rest === null || home === undefined ? answer : join(home, rest[1] ?? "");
}

function withHints<T extends string>(values: readonly T[], hints: Readonly<Record<T, string>>) {
  return values.map((value) => ({ value, hint: hints[value] }));
}
