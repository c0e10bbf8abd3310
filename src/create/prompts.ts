import { styleText } from "node:util";
import {
  type CANCEL_SYMBOL,
  ConfirmPrompt,
  isCancel,
  SelectPrompt,
  TextPrompt,
  updateSettings,
} from "@clack/core";
import { Cancelled } from "./errors.ts";
import { choiceLine } from "./report.ts";
import type { Terminal } from "./terminal.ts";

/** One thing to choose, with a word about it. */
export interface Choice<T extends string> {
  readonly value: T;
  readonly hint: string;
}

/** The parts of a question that every kind has. */
interface Frame {
  readonly state: string;
  readonly error: string;
}

// Ctrl-D closes the input, and would leave a question without an answer for ever.
updateSettings({ aliases: { "\x04": "cancel" } });

/**
 * Asks for a line of text; Enter alone takes `initial`.
 *
 * @param problemOf what is wrong with an answer, which is then asked for again
 * @throws {Cancelled}
 */
export async function askText(
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
 * Asks for one of several things; Enter alone takes the first.
 *
 * @throws {Cancelled}
 */
export async function askChoice<T extends string>(
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
 * Asks a question of yes or no; Enter alone is yes.
 *
 * @throws {Cancelled}
 */
export async function askWhether(label: string, terminal: Terminal): Promise<boolean> {
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

/** A question is a head and what to choose from; once it is answered, one line is left of it. */
function frame({ state, error }: Frame, label: string, answer: string, body: string[]): string {
  if (state === "submit") return choiceLine(label, answer, styleText("green", "◇"));
  if (state === "cancel") return `${styleText("red", "■")} ${label}`;
  if (state !== "error") return [`${styleText("cyan", "◆")} ${label}`, ...body].join("\n");
  const told = `  ${styleText("yellow", error)}`;
  return [`${styleText("yellow", "▲")} ${label}`, ...body, told].join("\n");
}

/** A terminal that goes away gives no answer any more. */
function untilClosed(terminal: Terminal): Terminal & { readonly signal: AbortSignal } {
  const closed = new AbortController();
  for (const event of ["end", "close"]) terminal.input.once(event, () => closed.abort());
  return { ...terminal, signal: closed.signal };
}

function answered<T>(answer: T | typeof CANCEL_SYMBOL | undefined): T {
  if (answer === undefined || isCancel(answer)) throw new Cancelled();
  return answer;
}
