import type { Template } from "../../src/create/options.ts";

/** Text of the message that the check sends to the bot. */
export const SAID = "hello";

/** Each template's expected reply when Ada sends {@link SAID}. */
const ANSWERS: Readonly<Record<Template, string>> = {
  starter: `Hi Ada! You wrote: ${SAID}`,
  minimal: `Hi Ada! You wrote: ${SAID}`,
  assistant: "Write /help.",
};

/** Returns true if a line of `service-bot trigger --wait --json` reports one correct reply. */
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
