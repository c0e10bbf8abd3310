import { parseAst } from "rolldown/parseAst";

export interface SyntaxNode {
  readonly type: string;
  readonly [key: string]: unknown;
}

export function parseSource(file: string, text: string): unknown {
  return parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }, file);
}

/** Returns a node and all nodes below it. */
export function nodesUnder(root: unknown): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  const visit = (node: unknown) => {
    if (typeof node !== "object" || node === null) return;
    if ("type" in node) nodes.push(node as SyntaxNode);
    for (const below of Object.values(node)) visit(below);
  };
  visit(root);
  return nodes;
}
