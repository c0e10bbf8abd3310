import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";

const QUOTE = /^<!-- quoted: examples\/[\w-]+\/(\S+) -->\n```ts\n[\s\S]*?^```$/gm;

/** Returns the page's text with the files of `examples/` that it quotes. Each begins with its path in a bot. */
export function withQuotes(text: string): string {
  return text.replaceAll(QUOTE, (block, path: string) => {
    const [, file = ""] = /quoted: (\S+)/.exec(block) ?? [];
    const code = readFileSync(join(root, file), "utf8");
    return `<!-- quoted: ${file} -->\n\`\`\`ts\n// ${path}\n${code}\`\`\``;
  });
}
