/** What was shown in a scene. */
export interface Recorded {
  readonly title: string;
  readonly words: string;
  readonly shown: string;
}

const HEAD = `# The first five minutes

What a newcomer types and sees, from making a bot to its tests. This page is written by \`npm run tour\` from a real run at a real
terminal, and a test plays it again and compares: where it says something else, the test fails. Times are those of the
recording; 4400 and 3000 stand for the ports that were free, and \`~\` for the folder.
`;

/** The page, in Markdown. */
export function pageOf(scenes: readonly Recorded[]): string {
  const parts = scenes.map(
    ({ title, words, shown }) => `\n## ${title}\n\n${words}\n\n\`\`\`console\n${shown}\`\`\`\n`,
  );
  return HEAD + parts.join("");
}

/**
 * What a terminal shows in the end of what was printed: a line that was written over is gone, and so are words of the package
 * manager about this machine.
 *
 * @param usual ports and paths of this run, and what stands for each
 */
export function asShown(printed: string, usual: ReadonlyMap<string, string>): string {
  const lines = printed
    .split("\n")
    .map((line) => line.split("\r").at(-1)?.trimEnd() ?? "")
    .filter((line) => !/^npm (?:warn|notice)/.test(line));
  const text = [...usual].reduce((all, [from, to]) => all.replaceAll(from, to), lines.join("\n"));
  return text.replace(/\n{3,}/g, "\n\n").replace(/^(\$ .*\n)\n+/, "$1");
}

/** What varies from one run to the next, and from one machine to another. */
const varying: readonly (readonly [RegExp, string])[] = [
  [/\b\d\d:\d\d:\d\d\b/g, "TIME"],
  [/\b\d+(?:\.\d+)? ?(ms|s)\b/g, "N $1"],
  [/duration_ms [\d.]+/g, "duration_ms N"],
  [/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g, "VERSION"],
  [/You rolled a \d/g, "You rolled a N"],
];

/**
 * The lines of a page that are the same in every run. Two programs write at once, so their order is not, and how often a
 * bot polls depends on the moment.
 */
export function lastingLines(page: string): ReadonlySet<string> {
  const lines = page.split("\n").filter((line) => !line.includes("bot polled"));
  return new Set(
    lines.map((line) => varying.reduce((text, [what, name]) => text.replaceAll(what, name), line)),
  );
}
