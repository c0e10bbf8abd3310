/** What is written to the bot, by somebody who is called Ada. */
export const SAID = "hello";

/** What both templates say to it. */
const ANSWER: string = `Hi Ada! You wrote: ${SAID}`;

/** Does this line of `service-bot trigger --wait --json` tell that the bot has answered once, as it should? */
export function isAnswered(line: string): boolean {
  try {
    const { outcome, answers } = JSON.parse(line);
    const [first, ...others] = answers;
    return (
      outcome === "answered" && others.length === 0 && first.status === 201 && first.text === ANSWER
    );
  } catch {
    return false;
  }
}
