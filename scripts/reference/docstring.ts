export interface Docstring {
  readonly text: string;
  readonly parameters: readonly string[];
  readonly returns: string | undefined;
  readonly throws: readonly string[];
}

const NOTHING: Docstring = { text: "", parameters: [], returns: undefined, throws: [] };

export function readDocstring(comment: string | undefined): Docstring {
  if (comment === undefined) return NOTHING;
  const lines = comment.split("\n").map((line) => line.replace(/^\s*\*+ ?/, "").trimEnd());
  const [text = "", ...tags] = `\n${lines.join("\n")}`.split(/\n(?=@[a-z]+\b)/);
  const of = (name: string) =>
    tags
      .filter((tag) => tag.startsWith(`@${name} `))
      .map((tag) => flat(tag.slice(name.length + 1)));
  return {
    text: text
      .trim()
      .split(/\n{2,}/)
      .map(paragraph)
      .join("\n\n"),
    parameters: of("param").map(parameter),
    returns: of("returns")[0],
    throws: of("throws").map(thrown),
  };
}

/** Joins prose into one line. Indented text is an example and stays unchanged. */
function paragraph(text: string): string {
  const lines = text.split("\n");
  if (text === "" || !lines.every((line) => /^ {2}|^$/.test(line))) return flat(text);
  const indent = Math.min(...lines.map((line) => line.search(/\S|$/)));
  return ["```ts", ...lines.map((line) => line.slice(indent)), "```"].join("\n");
}

/** A page that a docstring names. The pages of the reference are in docs/reference/api/. */
const PAGE = /\bdocs\/([\w/-]+\.md(?:#[\w-]+)?)/g;

function flat(text: string): string {
  return text
    .replaceAll(/\{@link (\w+)\}/g, "`$1`")
    .replaceAll(PAGE, "[$1](../../$1)")
    .replaceAll(/\s+/g, " ")
    .trim();
}

function parameter(text: string): string {
  const [, name = "", rest = ""] = /^(\S+) (?:- )?(.*)$/.exec(text) ?? [];
  return `\`${name}\`: ${rest}`;
}

/** Formats `{ServiceBotError} INBOX_FULL when …`, with the class and the error codes as code. */
function thrown(text: string): string {
  const [, name, rest = text] = /^\{(\w+)\}\s*(.*)$/.exec(text) ?? [];
  const codes = rest.replaceAll(/(?<![`\w])[A-Z][A-Z_]{3,}(?![`\w])/g, "`$&`");
  return name === undefined ? codes : `\`${name}\`${codes === "" ? "" : ` ${codes}`}`;
}
