export interface Recorded {
  readonly title: string;
  readonly words: string;
  readonly shown: string;
}

const HEAD = `# The first five minutes

This page is a recorded terminal session, from creating a bot to running its tests. \`npm run docs -- tour\` records it,
and a test fails if the output has changed.
`;

/** The end of the page. `npm run docs -- screenshots` takes its pictures. */
const TAIL = `
## See it in a browser

Press \`o\`, or open the URL after \`portal\`.

**Chat** shows a conversation and, for each message, its event, delivery, run and request.

![A conversation between Ada and the bot](../images/portal-chat.png)

**Events** lists every event with its outcome. Here \`f\` made the first delivery fail.

![Events and their outcomes: the first delivery of a mention failed](../images/portal-events.png)

**Faults** makes deliveries and API calls fail. Here two faults are active.

![Two active faults in the portal](../images/portal-faults.png)

**Webhook** switches deliveries off. Here the bot is polling.

![The webhook switched off while the bot polls](../images/portal-webhook.png)

The portal also works on a phone.

![The posts on a narrow screen](../images/portal-phone.png)
`;

export function pageOf(scenes: readonly Recorded[]): string {
  const parts = scenes.map(
    ({ title, words, shown }) => `\n## ${title}\n\n${words}\n\n\`\`\`console\n${shown}\`\`\`\n`,
  );
  return HEAD + parts.join("") + TAIL;
}

/**
 * Returns the final content of a terminal, without overwritten lines and without npm's warnings about this machine.
 *
 * @param usual replacements for the ports and paths of this run
 */
export function asShown(printed: string, usual: ReadonlyMap<string, string>): string {
  const lines = printed
    // The prompt of `dev` ends lines with an extra carriage return.
    .split(/\r*\n/)
    .map((line) => line.split("\r").at(-1)?.trimEnd() ?? "")
    .filter((line) => !/^npm (?:warn|notice)/.test(line));
  const text = [...usual].reduce((all, [from, to]) => all.replaceAll(from, to), lines.join("\n"));
  return text
    .replaceAll(/#token=[\w-]+/g, "#token=…")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^(\$ .*\n)\n+/, "$1");
}

/** Parts of the output that differ between runs and machines, with their placeholders. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d\b/g, "TIME"],
  [/\b\d+(?:\.\d+)? ?(ms|s)\b/g, "N $1"],
  [/duration_ms [\d.]+/g, "duration_ms N"],
  [/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g, "VERSION"],
  [/You rolled a \d/g, "You rolled a N"],
];

/** Lists the lines that differ between two pages, scene by scene. Ignores parts that vary between runs. */
export function differences(was: string, is: string): string[] {
  const [before, after] = [scenesOf(was), scenesOf(is)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((title) => {
    const [old, now] = [before.get(title) ?? [], after.get(title) ?? []];
    if (old.join("\n") === now.join("\n")) return [];
    const gone = without(old, now).map((line) => `- ${line}`);
    const made = without(now, old).map((line) => `+ ${line}`);
    const moved = gone.length + made.length === 0 ? ["(the same lines in another order)"] : [];
    return [title, ...gone, ...made, ...moved];
  });
}

function scenesOf(page: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    page.split(/^(?=## )/m).map((part) => {
      const [title = "", ...lines] = part.split("\n");
      return [title, lastingLines(lines)];
    }),
  );
}

/**
 * Drops lines about polls, because their number depends on timing. Sorts lines that two programs print concurrently.
 */
function lastingLines(lines: readonly string[]): readonly string[] {
  const lasting = lines
    .filter((line) => !line.includes("bot polled"))
    .map((line) => varying.reduce((text, [what, name]) => text.replaceAll(what, name), line));
  // Only lines from the local platform and its bot begin with a time.
  return lines.some((line) => /^\d\d:\d\d:\d\d /.test(line)) ? lasting.sort() : lasting;
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...lines];
  for (const other of others) {
    const at = left.indexOf(other);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
