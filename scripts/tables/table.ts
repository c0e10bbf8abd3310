/** A table of a page that is generated from the code. */
export interface DocsTable {
  /** Path of the page in the repository. */
  readonly page: string;
  readonly head: readonly string[];
  readonly rows: () => readonly (readonly string[])[];
}

/** Returns the page's text with the rows of the code. */
export function withRows(text: string, { page, head, rows }: DocsTable): string {
  const top = `${line(head)}\n|${"---|".repeat(head.length)}\n`;
  const start = text.indexOf(top);
  const end = text.indexOf("\n\n", start);
  if (start < 0 || end < 0) throw new Error(`${page} has no table with ${head.join(", ")}`);
  return text.slice(0, start) + top + rows().map(line).join("\n") + text.slice(end);
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
