// Only this file imports the prompt library, which is loaded on demand.
import { join, resolve } from "node:path";
import { styleText } from "node:util";
import {
  type CANCEL_SYMBOL,
  ConfirmPrompt,
  isCancel,
  SelectPrompt,
  TextPrompt,
  updateSettings,
} from "@clack/core";
import { directoryProblem } from "./directory.ts";
import { Cancelled } from "./errors.ts";
import type { Io, Terminal } from "./io.ts";
import {
  type Options,
  type Question,
  type Store,
  stores,
  type Template,
  templates,
} from "./options.ts";
import { detectPackageManager } from "./package-manager.ts";
import { choiceLine } from "./report.ts";
import { repositoryAround } from "./repository.ts";

export interface Answers {
  readonly options: Options & { readonly dir: string };
  readonly asked: ReadonlySet<Question>;
  /** True if the header has been printed above the questions. */
  readonly hasHead: boolean;
}

const DIRECTORY = "my-bot";

const templateHints: Readonly<Record<Template, string>> = {
  starter: "a file per event type, tests, Docker, https, CI",
  minimal: "one file and its test",
  assistant: "commands, state, reminders, a daily post, with tests",
};

const storeHints: Readonly<Record<Store, string>> = {
  sqlite: "a file; no server to run",
  postgres: "a server; for several bot instances",
};

/**
 * Prompts for every choice that the arguments leave open.
 *
 * @throws {Cancelled}
 */
export async function ask(options: Options, terminal: Terminal, io: Io): Promise<Answers> {
  const asked = new Set<Question>();
  const unless = async <T>(name: Question, given: T | undefined, question: () => Promise<T>) => {
    if (given !== undefined) return given;
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
  // Do not create nested repositories.
  const asksGit = options.git === undefined && !repositoryAround(resolve(io.cwd, dir));
  const git = asksGit
    ? await unless("git", undefined, () => askWhether("Initialize git?", terminal))
    : options.git;
  return { options: { ...options, dir, template, store, install, git }, asked, hasHead: true };
}

async function askDirectory(terminal: Terminal, io: Io): Promise<string> {
  const problemOf = (answer: string) => directoryProblem(atHome(answer, io), io);
  return atHome(await askText("Directory", DIRECTORY, problemOf, terminal), io);
}

/** Expands `~`, because no shell has processed the input. */
function atHome(answer: string, { env, platform }: Io): string {
  const home = platform === "win32" ? env["USERPROFILE"] : env["HOME"];
  const rest = /^~(?:[/\\](.*))?$/s.exec(answer);
  return rest === null || home === undefined ? answer : join(home, rest[1] ?? "");
}

function withHints<T extends string>(values: readonly T[], hints: Readonly<Record<T, string>>) {
  return values.map((value) => ({ value, hint: hints[value] }));
}

interface Choice<T extends string> {
  readonly value: T;
  readonly hint: string;
}

interface Frame {
  readonly state: string;
  readonly error: string;
}

// Ctrl-D closes the input. Without this alias, the prompt would wait forever.
updateSettings({ aliases: { "\x04": "cancel" } });

/**
 * @param problemOf describes an invalid input, and the prompt then repeats
 * @throws {Cancelled}
 */
async function askText(
  label: string,
  initial: string,
  problemOf: (answer: string) => string | undefined,
  terminal: Terminal,
): Promise<string> {
  const prompt = new TextPrompt({
    ...untilClosed(terminal),
    defaultValue: initial,
    validate: (answer) => problemOf(answer || initial),
    render() {
      const typed = this.userInput === "" ? styleText("dim", initial) : this.userInputWithCursor;
      return frame(this, label, this.value ?? "", [`  ${typed}`]);
    },
  });
  return answered(await prompt.prompt());
}

/**
 * Enter accepts the first value.
 *
 * @throws {Cancelled}
 */
async function askChoice<T extends string>(
  label: string,
  choices: readonly Choice<T>[],
  terminal: Terminal,
): Promise<T> {
  const prompt = new SelectPrompt<Choice<T>>({
    ...untilClosed(terminal),
    options: [...choices],
    render() {
      const lines = choices.map(({ value, hint }, index) => {
        const here = index === this.cursor;
        const text = `${here ? styleText("cyan", "●") : "○"} ${value}`;
        return `  ${here ? `${text}  ${styleText("dim", hint)}` : styleText("dim", text)}`;
      });
      return frame(this, label, this.value ?? "", lines);
    },
  });
  return answered(await prompt.prompt());
}

/**
 * Enter means yes.
 *
 * @throws {Cancelled}
 */
async function askWhether(label: string, terminal: Terminal): Promise<boolean> {
  const prompt = new ConfirmPrompt({
    ...untilClosed(terminal),
    active: "yes",
    inactive: "no",
    initialValue: true,
    render() {
      const [yes, no] = [this.value === true, this.value !== true].map((here) =>
        here ? styleText("cyan", "●") : "○",
      );
      return frame(this, label, this.value ? "yes" : "no", [`  ${yes} yes / ${no} no`]);
    },
  });
  return answered(await prompt.prompt());
}

function frame({ state, error }: Frame, label: string, answer: string, body: string[]): string {
  if (state === "submit") return choiceLine(label, answer, styleText("green", "◇"));
  if (state === "cancel") return `${styleText("red", "■")} ${label}`;
  if (state !== "error") return [`${styleText("cyan", "◆")} ${label}`, ...body].join("\n");
  const problem = `  ${styleText("yellow", error)}`;
  return [`${styleText("yellow", "▲")} ${label}`, ...body, problem].join("\n");
}

function untilClosed(terminal: Terminal): Terminal & { readonly signal: AbortSignal } {
  const closed = new AbortController();
  for (const event of ["end", "close"]) terminal.input.once(event, () => closed.abort());
  return { ...terminal, signal: closed.signal };
}

function answered<T>(answer: T | typeof CANCEL_SYMBOL | undefined): T {
  if (answer === undefined || isCancel(answer)) throw new Cancelled();
  return answer;
}
