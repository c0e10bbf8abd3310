import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type CodeBlock, codeBlocks, pages, root } from "../docs/markdown.ts";

/** A file of a bot. */
export interface GuideFile {
  /** Name of a guide, an example or a template. */
  readonly guide: string;
  readonly path: string;
  readonly code: string;
}

/** Returns the path in a block's first line, or `undefined` if the block is not a bot's file. */
export function pathIn({ code }: Pick<CodeBlock, "code">): string | undefined {
  return /^\/\/ ((?:src|test)\/\S+)\n/.exec(code)?.[1];
}

/** The bots of the guides that do not quote an example. */
export const guideFiles: readonly GuideFile[] = pages
  .filter(({ path }) => dirname(path) === join("docs", "guides"))
  .flatMap((page) =>
    codeBlocks(page).flatMap((block) => {
      const path = pathIn(block);
      return path === undefined || isQuoted(block)
        ? []
        : [{ guide: basename(page.path, ".md"), path, code: block.code }];
    }),
  );

/** Returns true for a block that `npm run docs -- tables` copies from a file of `examples/`. */
export function isQuoted({ note }: CodeBlock): boolean {
  return note.startsWith("quoted: ");
}

/** Examples in docs/reference/testing.md. Each of them runs on its own. */
export const testingFiles: readonly GuideFile[] = pages
  .filter(({ path }) => path === join("docs/reference/testing.md"))
  .flatMap(codeBlocks)
  .filter(({ language }) => language === "ts")
  .map(({ code }, index) => ({ guide: "testing", path: `test/example-${index}.test.ts`, code }));

/** The assistant template's files, which result from following the guides. */
export const assistantFiles: readonly GuideFile[] = filesOfBot("templates/assistant");

export const examples: readonly string[] = readdirSync(join(root, "examples"), {
  withFileTypes: true,
}).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

export const exampleFiles: readonly GuideFile[] = examples.flatMap((name) =>
  filesOfBot(`examples/${name}`),
);

function filesOfBot(bot: string): GuideFile[] {
  return ["src", "test"].flatMap((folder) => {
    const directory = join(root, bot, folder);
    return readdirSync(directory).map((name) => ({
      guide: basename(bot),
      path: join(folder, name),
      code: readFileSync(join(directory, name), "utf8"),
    }));
  });
}
