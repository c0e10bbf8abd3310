import { readFileSync } from "node:fs";

/** Returns the code spans and other numbers in the paragraph about conformance in docs/reference/mcp.md. */
export function documentedConformance(): {
  readonly code: readonly string[];
  readonly numbers: readonly number[];
} {
  const page = readFileSync(new URL("../../docs/reference/mcp.md", import.meta.url), "utf8");
  const paragraphs = page.split("\n\n").map((paragraph) => paragraph.replaceAll("\n", " "));
  const found = paragraphs.find((each) => each.includes("`@modelcontextprotocol/")) ?? "";
  const [between = [], code = []] = [0, 1].map((parity) =>
    found.split("`").filter((_, index) => index % 2 === parity),
  );
  return { code, numbers: [...between.join(" ").matchAll(/\d+/g)].map(Number) };
}
