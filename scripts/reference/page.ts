import type { Entry, Member } from "./describe.ts";
import type { Docstring } from "./docstring.ts";
import type { Declared } from "./module.ts";

export type LinkOf = (declared: Declared) => string | undefined;

const GROUPS: readonly [title: string, kinds: readonly Entry["kind"][]][] = [
  ["Classes and functions", ["class", "function", "value"]],
  ["Errors", ["error"]],
  ["Types", ["type"]],
];

export function renderEntries(entries: readonly Entry[], linkOf: LinkOf): string {
  return GROUPS.map(([title, kinds]) => {
    const inGroup = entries.filter(({ kind }) => kinds.includes(kind));
    return renderGroup(title, inGroup, linkOf);
  }).join("");
}

export function renderGroup(title: string, entries: readonly Entry[], linkOf: LinkOf): string {
  if (entries.length === 0) return "";
  const rendered = byName(entries).map((entry) => renderEntry(entry, linkOf));
  return `\n## ${title}\n\n${rendered.join("\n")}`;
}

/** Returns the entries' GitHub anchors, if all are on the same page. */
export function anchors(...groups: readonly (readonly Entry[])[]): ReadonlyMap<Entry, string> {
  const used = new Map<string, number>();
  const sorted = groups.flatMap((entries) => inOrder(entries));
  return new Map(
    sorted.map((entry) => {
      const slug = entry.name.toLowerCase();
      const count = used.get(slug) ?? 0;
      used.set(slug, count + 1);
      return [entry, count === 0 ? `#${slug}` : `#${slug}-${count}`];
    }),
  );
}

function inOrder(entries: readonly Entry[]): Entry[] {
  return GROUPS.flatMap(([, kinds]) => byName(entries.filter(({ kind }) => kinds.includes(kind))));
}

/** Ignores case, and puts upper case first. A locale-aware order would depend on the machine. */
function byName(entries: readonly Entry[]): Entry[] {
  const key = ({ name }: Entry) => `${name.toLowerCase()} ${name}`;
  return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function renderEntry(entry: Entry, linkOf: LinkOf): string {
  const { name, signature, docstring, members } = entry;
  const parts = [`### ${name}`];
  if (signature !== undefined) parts.push(`\`\`\`ts\n${signature}\n\`\`\``);
  parts.push(...paragraphs(docstring));
  if (members.length > 0) parts.push(members.map(renderMember).join("\n"));
  const links = mentioned(entry, linkOf);
  if (links.length > 0) parts.push(`See ${links.join(", ")}.`);
  return `${parts.join("\n\n")}\n`;
}

function renderMember({ signature, docstring, parts }: Member): string {
  const [first, ...rest] = paragraphs(docstring);
  const head = `- \`${signature}\`${first === undefined ? "" : `\\\n  ${first}`}`;
  const others = rest.map((text) => `\n${indented(text)}`);
  return [head, ...others, ...parts.map((part) => indented(renderMember(part)))].join("\n");
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

/** Appends the errors to a short paragraph, and otherwise puts them in their own. */
function paragraphs({ text, parameters, returns, throws }: Docstring): string[] {
  const list = [
    ...(parameters.length === 0 ? [] : [parameters.map(sentence).join(" ")]),
    ...(returns === undefined ? [] : [sentence(`Returns ${returns}`)]),
    ...throws.map((one) => sentence(`Throws ${one}`)),
  ];
  const own = text.split("\n\n").filter((one) => one !== "");
  const last = list.join(" ");
  return last === "" ? own : [...own, last];
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function mentioned({ names }: Entry, linkOf: LinkOf): string[] {
  return [...names].flatMap(([name, declared]) => {
    const place = linkOf(declared);
    return place === undefined ? [] : [`[${name}](${place})`];
  });
}
