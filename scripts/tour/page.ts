/** The output of a scene. */
export interface Recorded {
  readonly title: string;
  readonly words: string;
  readonly shown: string;
}

const HEAD = `# The first five minutes

A newcomer types and sees this, from making a bot to its tests. \`npm run docs -- tour\` writes this page from a real
run at a real terminal. A test plays it again and fails if the page differs. Times are those of the recording; 4400 and
3000 stand for the ports that were free, and \`~\` for the folder.
`;

/** The end of the page. Its pictures are taken by `npm run docs -- screenshots`. */
const TAIL = `
## The same in a browser

The page at the address after \`portal\`, which \`o\` opens. \`npm run docs -- screenshots\` takes the pictures from a real
run.

**Chat**: a message on the left, and on the right what it caused: event, delivery, run, request.

![A conversation of Ada with the bot](images/portal-chat.png)

**Events**: a row an event, with what the bot made of it. Here the first delivery was made to fail with \`f\`.

![Events, and what became of a mention](images/portal-events.png)

**Faults**: a menu of scenarios, here in dark. A banner on every view says what is active.

![Two faults that are active](images/portal-faults.png)

**Webhook**: it is off, and the bot polls.

![The webhook switched off, and the bot polling](images/portal-webhook.png)

On a phone: the **posts**.

![The posts on a narrow screen](images/portal-phone.png)
`;

/** The page, in Markdown. */
export function pageOf(scenes: readonly Recorded[]): string {
  const parts = scenes.map(
    ({ title, words, shown }) => `\n## ${title}\n\n${words}\n\n\`\`\`console\n${shown}\`\`\`\n`,
  );
  return HEAD + parts.join("") + TAIL;
}

/**
 * What a terminal shows in the end of what was printed: a line that was written over is gone, and so are words of the package
 * manager about this machine.
 *
 * @param usual ports and paths of this run, and what stands for each
 */
export function asShown(printed: string, usual: ReadonlyMap<string, string>): string {
  const lines = printed
    // The prompt of `dev` ends its line with a return of its own, before that of the terminal.
    .split(/\r*\n/)
    .map((line) => line.split("\r").at(-1)?.trimEnd() ?? "")
    .filter((line) => !/^npm (?:warn|notice)/.test(line));
  const text = [...usual].reduce((all, [from, to]) => all.replaceAll(from, to), lines.join("\n"));
  return text
    .replaceAll(/#token=[\w-]+/g, "#token=…")
    .replace(/\n{3,}/g, "\n\n")
    .replace(/^(\$ .*\n)\n+/, "$1");
}

/** What varies from one run to the next, and from one machine to another. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d\b/g, "TIME"],
  [/\b\d+(?:\.\d+)? ?(ms|s)\b/g, "N $1"],
  [/duration_ms [\d.]+/g, "duration_ms N"],
  [/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g, "VERSION"],
  [/You rolled a \d/g, "You rolled a N"],
];

/** Tells what two pages differ in, scene by scene, but for what varies; nothing where they do not. */
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

/** The lines below each title that are the same in every run. */
function scenesOf(page: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    page.split(/^(?=## )/m).map((part) => {
      const [title = "", ...lines] = part.split("\n");
      return [title, lastingLines(lines)];
    }),
  );
}

/** How often a bot polls depends on the moment; and where two programs write at once, so does the order of their lines. */
function lastingLines(lines: readonly string[]): readonly string[] {
  const lasting = lines
    .filter((line) => !line.includes("bot polled"))
    .map((line) => varying.reduce((text, [what, name]) => text.replaceAll(what, name), line));
  // Only what the local platform and its bot write begins with the time.
  return lines.some((line) => /^\d\d:\d\d:\d\d /.test(line)) ? lasting.sort() : lasting;
}

/** What is left of some lines when each of the others is taken away once. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...lines];
  for (const other of others) {
    const at = left.indexOf(other);
    if (at >= 0) left.splice(at, 1);
  }
  return left;
}
