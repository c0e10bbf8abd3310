import type { ESTree } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { describe as entryOf } from "../../scripts/reference/describe.ts";
import { readDocstring } from "../../scripts/reference/docstring.ts";
import { type Declared, idOf } from "../../scripts/reference/module.ts";
import { entryPoints } from "../../scripts/reference/reference.ts";

/**
 * Words that an editor shows for each member of the public types, including types that no entry exports but that
 * exported ones mention. The control interface of the local platform is documented on its own page.
 */

/** Entries whose types authors use. */
const ENTRIES = ["service-bot", "service-bot/client", "service-bot/testing"];

interface Member {
  readonly path: string;
  readonly text: string;
}

const MEMBERS: ReadonlySet<string> = new Set([
  "MethodDefinition",
  "PropertyDefinition",
  "TSCallSignatureDeclaration",
  "TSEnumMember",
  "TSMethodSignature",
  "TSPropertySignature",
]);

/** Parts of a declaration without members of their own: parameters, and the patterns of conditional types. */
const UNSEEN: ReadonlySet<string> = new Set(["params", "parameters", "extendsType"]);

/** Collects the members of a declaration and of the object types in it. */
function membersOf({ module, node }: Declared, name: string): readonly Member[] {
  const found: Member[] = [];
  const visit = (part: unknown, above: string): void => {
    if (Array.isArray(part)) for (const one of part) visit(one, above);
    if (!isNode(part)) return;
    const key = MEMBERS.has(part.type) ? keyOf(part) : undefined;
    if (key === null) return;
    const path = key === undefined ? above : `${above}.${key}`;
    if (key !== undefined) {
      const docstring = module.docstringOf(part);
      if (docstring?.includes("@internal") === true) return;
      found.push({ path, text: readDocstring(docstring).text });
    }
    for (const [field, value] of Object.entries(part)) {
      if (!UNSEEN.has(field)) visit(value, path);
    }
  };
  visit(node, name);
  return found;
}

function isNode(part: unknown): part is ESTree.Node {
  return typeof part === "object" && part !== null && "type" in part;
}

/** Returns a member's name, or `null` for one that only its class sees, or that has a computed name. */
function keyOf(member: ESTree.Node): string | null {
  const { key, id, computed, accessibility }: Readonly<Record<string, unknown>> = { ...member };
  const isHidden =
    computed === true || accessibility === "private" || accessibility === "protected";
  const { type, name, value = name }: Readonly<Record<string, unknown>> = { ...Object(key ?? id) };
  if (isHidden || type === "PrivateIdentifier") return null;
  return value === undefined ? "()" : String(value);
}

function reachable(): ReadonlyMap<string, readonly Member[]> {
  const found = new Map<string, readonly Member[]>();
  const visit = (name: string, declared: Declared): void => {
    const id = idOf(declared);
    if (found.has(id) || declared.node.type === "VariableDeclaration") return;
    found.set(id, membersOf(declared, name));
    for (const [other, at] of entryOf(name, declared, () => false).names) visit(other, at);
  };
  for (const { name, entries } of entryPoints()) {
    if (ENTRIES.includes(name)) for (const entry of entries) visit(entry.name, entry.declared);
  }
  return found;
}

const members = [...reachable().values()].flat();

describe("an editor shows words", () => {
  test("for every member of the public types, or those of the member that it overrides", () => {
    expect(members.length).toBeGreaterThan(500);
    // Errors inherit these words from ServiceBotError.
    const isInherited = ({ path }: Member) =>
      /Error\.(?:code|name)$|^(?:GiveUp|RetryLater)\.name$/.test(path);
    // Without words, an editor shows those of the class.
    const isConstructor = ({ path }: Member) => path.endsWith(".constructor");
    const without = members.filter(
      (member) => member.text === "" && !isInherited(member) && !isConstructor(member),
    );
    expect(without.map(({ path }) => path)).toEqual([]);
  });

  test("for every constructor that has parameters or errors to describe", () => {
    const constructors = entryPoints()
      .filter(({ name }) => ENTRIES.includes(name))
      .flatMap(({ entries }) => entries)
      .flatMap(({ name, members }) => members.map((member) => ({ name, ...member })))
      .filter(({ signature }) => signature.startsWith("constructor("));
    const described = constructors.filter(
      ({ docstring }) => docstring.parameters.length + docstring.throws.length > 0,
    );
    expect(described.length).toBeGreaterThan(3);
    const without = described.filter(({ docstring }) => docstring.text === "");
    expect(without.map(({ name }) => name)).toEqual([]);
  });
});
