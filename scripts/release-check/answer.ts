import type { Template } from "../../src/create/options.ts";

export const SAID = "hello";

/** Each template's reply to {@link SAID} from Ada. */
const ANSWERS: Readonly<Record<Template, string>> = {
  starter: `Hi Ada! You wrote: ${SAID}`,
  minimal: `Hi Ada! You wrote: ${SAID}`,
  assistant: "Write /help.",
};

/** Returns true if a line from `service-bot trigger --wait --json` reports a single correct reply. */
export function isAnswered(template: Template, line: string): boolean {
  try {
    const { outcome, answers } = JSON.parse(line);
    const [first, ...others] = answers;
    return (
      outcome === "answered" &&
      others.length === 0 &&
      first.status === 201 &&
      first.text === ANSWERS[template]
    );
  } catch {
    return false;
  }
}
