import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { costOf } from "./faces/router.ts";
import { nodesUnder, parseSource, type SyntaxNode } from "./support/syntax-tree.ts";

// Most texts in src come from users or from the platform, so a regular expression must take linear time for all texts.

/** An expression in src or in a template. */
interface Found {
  readonly file: string;
  /** `undefined` if the source is not a constant. */
  readonly expression: RegExp | undefined;
}

const source = join(import.meta.dirname, "../src");

const files = globSync("**/*.{ts,tsx}", { cwd: source }).map((file) => {
  return { file, text: readFileSync(join(source, file), "utf8") };
});

const templates = globSync("../templates/*/src/**/*.ts", { cwd: source }).map((file) => {
  return { file, text: readFileSync(join(source, file), "utf8") };
});

const expressions = [...files, ...templates].flatMap(({ file, text }): Found[] =>
  nodesUnder(parseSource(file, text)).flatMap((node) => {
    const { regex } = node as { readonly regex?: { pattern: string; flags: string } };
    if (regex !== undefined) return [{ file, expression: new RegExp(regex.pattern, regex.flags) }];
    const isBuilt = node.type === "NewExpression" || node.type === "CallExpression";
    const isRegExp = isBuilt && (node["callee"] as SyntaxNode)["name"] === "RegExp";
    return isRegExp ? [{ file, expression: built(node["arguments"] as SyntaxNode[]) }] : [];
  }),
);

/** Builds an expression with a letter in place of each substitution, which is an escaped or a constant text. */
function built([pattern, flags]: readonly SyntaxNode[]): RegExp | undefined {
  if (pattern?.type !== "TemplateLiteral") return undefined;
  const parts = (pattern["quasis"] as SyntaxNode[]).map(({ value }) => {
    return (value as { readonly cooked: string }).cooked;
  });
  return new RegExp(parts.join("x"), flags?.type === "Literal" ? String(flags["value"]) : "");
}

/** Expressions whose source is not a constant, by file. */
const variable: Readonly<Record<string, number>> = {
  // A constant class of characters.
  "core/safe-text.ts": 1,
  // An expression of the same file, with the flag g.
  "core/json.ts": 1,
  "inbox/stored-text.ts": 1,
  // One class of characters from a bot author's expression.
  "router/beginning.ts": 1,
  // A bot author's expression, which has a time limit.
  "router/matching.ts": 1,
};

describe("the regular expressions in src", () => {
  test("are found", () => {
    expect(expressions.length).toBeGreaterThan(200);
  });

  test("take linear time", () => {
    const slow = expressions.filter(({ expression }) => {
      if (expression === undefined) return false;
      const { factor, degree } = costOf(expression);
      return degree > 1 || factor > 10_000;
    });
    expect(slow.map(({ file, expression }) => `${file}: ${expression}`)).toEqual([]);
  });

  test("have constant sources, except those listed here", () => {
    const counts = new Map<string, number>();
    for (const { file, expression } of expressions) {
      if (expression === undefined) counts.set(file, (counts.get(file) ?? 0) + 1);
    }
    expect(Object.fromEntries(counts)).toEqual(variable);
  });
});

test("only a function for long texts normalizes texts, which may take quadratic time", () => {
  const normalizing = files.filter(({ text }) => text.includes(".normalize("));
  expect(normalizing.map(({ file }) => file)).toEqual(["core/text.ts"]);
});
