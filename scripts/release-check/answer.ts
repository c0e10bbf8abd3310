import type { Template } from "../../src/create/options.ts";

/** What is written to the bot, by somebody who is called Ada. */
export const SAID = "hello";

/** The answer of each template. */
const ANSWERS: Readonly<Record<Template, string>> = {
  starter: `Hi Ada! You wrote: ${SAID}`,
  minimal: `Hi Ada! You wrote: ${SAID}`,
  assistant: "Write /help.",
};

/** Does this line of `service-bot trigger --wait --json` tell that the bot has answered once, as it should? */
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
