import { codeBlocks, type Page, pages } from "../../docs/markdown.ts";

/** docs/deploying.md. */
export const page: Page = pages.find(({ path }) => path === "docs/deploying.md") ?? missing();

const blocks = codeBlocks(page);

/** The block of docs/deploying.md that has this text. @throws unless there is one */
export function documentedBlock(part: string): string {
  const [found, ...more] = blocks.filter(({ code }) => code.includes(part));
  if (found === undefined || more.length > 0) {
    throw new Error(`docs/deploying.md has not one block with ${part}`);
  }
  return found.code;
}

/** The first line of a block of docs/deploying.md that has this text. @throws if there is none */
export function documentedLine(part: string): string {
  const lines = blocks.flatMap(({ code }) => code.split("\n"));
  const found = lines.find((line) => line.includes(part));
  if (found === undefined) throw new Error(`docs/deploying.md has no line with ${part}`);
  return found;
}

function missing(): never {
  throw new Error("there is no docs/deploying.md");
}
