import type { ESTree } from "rolldown/utils";
import { type Docstring, readDocstring } from "./docstring.ts";
import type { Declared, Module } from "./module.ts";

export interface Entry {
  readonly name: string;
  readonly kind: "class" | "error" | "function" | "value" | "type";
  /** The declaration as code, without members. `undefined` if it adds nothing to the name. */
  readonly signature: string | undefined;
  readonly docstring: Docstring;
  readonly members: readonly Member[];
  /** Types of this project that occur in the code, by the name used there. */
  readonly names: ReadonlyMap<string, Declared>;
}

export interface Member {
  readonly signature: string;
  readonly docstring: Docstring;
  readonly parts: readonly Member[];
}

type Element = ESTree.ClassElement | ESTree.TSSignature;

export type IsPublic = (declared: Declared) => boolean;

/** Includes the members of unexported base types. */
export function describe(name: string, declared: Declared, isPublic: IsPublic): Entry {
  const { module } = declared;
  const { kind, members, ...content } = contentOf(name, declared, isPublic);
  const signature = content.signature && tidy(content.signature);
  const names = new Map<string, Declared>();
  for (const code of [signature ?? "", ...members.map((member) => member.signature)]) {
    for (const type of typesIn(code)) {
      const found = type === name ? undefined : module.find(type);
      if (found !== undefined) names.set(type, found);
    }
  }
  return { name, kind, signature, docstring: readDocstring(declared.docstring), members, names };
}

/** Ignores string literals, which may look like types. */
function typesIn(code: string): readonly string[] {
  return code.replaceAll(/"[^"]*"/g, "").match(/\b[A-Z]\w*\b/g) ?? [];
}

type Content = Pick<Entry, "kind" | "signature" | "members">;

function contentOf(name: string, { module, node }: Declared, isPublic: IsPublic): Content {
  switch (node.type) {
    case "ClassDeclaration": {
      const kind = name.endsWith("Error") || node.superClass ? "error" : "class";
      const code = declaration(module, { start: node.start, end: node.body.start });
      const signature = code === `class ${name}` ? undefined : code;
      return { kind, signature, members: membersOf(module, node.body.body, isPublic) };
    }
    case "TSInterfaceDeclaration":
      return interfaceContent(name, { module, node }, isPublic);
    case "TSTypeAliasDeclaration": {
      const { typeAnnotation: type } = node;
      if (type.type === "TSTypeLiteral" && !node.typeParameters) {
        const members = membersOf(module, type.members, isPublic);
        return { kind: "type", signature: undefined, members };
      }
      return { kind: "type", signature: alias(module, node), members: [] };
    }
    // Declared only for its type.
    case "TSEnumDeclaration":
      return { kind: "type", signature: undefined, members: [] };
    case "VariableDeclaration":
      return { kind: "value", signature: declaration(module, node), members: [] };
    default: {
      const signature = withoutInternal(module, declaration(module, node), isPublic);
      return { kind: "function", signature, members: [] };
    }
  }
}

interface DeclaredInterface {
  readonly module: Module;
  readonly node: ESTree.TSInterfaceDeclaration;
}

function interfaceContent(name: string, of: DeclaredInterface, isPublic: IsPublic): Content {
  const { module, node } = of;
  const { kept, inherited } = heritage(of, isPublic);
  const generics = node.typeParameters ? module.text(node.typeParameters) : "";
  const rest = kept.length === 0 ? "" : ` extends ${kept.join(", ")}`;
  const signature = `${generics}${rest}` === "" ? undefined : `interface ${name}${generics}${rest}`;
  const members = [...inherited, ...membersOf(module, node.body.body, isPublic)];
  return { kind: "type", signature, members };
}

function declaration(module: Module, node: { start: number; end: number }): string {
  return module
    .text(node)
    .replace(/^declare /, "")
    .replace(/;$/, "");
}

/** Drops the last parameter if it is optional and its type is not exported. */
function withoutInternal(module: Module, code: string, isPublic: IsPublic): string {
  return code.replace(/, \w+\?: (\w+)(?=\)(?:[:;]|$))/, (parameter, type) => {
    const declared = module.find(type);
    return declared === undefined || isPublic(declared) ? parameter : "";
  });
}

/** Puts each alternative of a union on its own line. */
function alias(module: Module, node: ESTree.TSTypeAliasDeclaration): string {
  const text = withUnions(module, declaration(module, node));
  const { typeAnnotation: type } = node;
  if (text.length <= 90 || type.type !== "TSUnionType") return text;
  const alternatives = type.types.map((one) => `\n  | ${module.text(one)}`);
  return `${declaration(module, { start: node.start, end: type.start })}${alternatives.join("")}`;
}

interface Heritage {
  readonly kept: string[];
  readonly inherited: readonly Member[];
}

/** Keeps the names of exported base types, and inlines the members of all others. */
function heritage(heir: DeclaredInterface, isPublic: IsPublic): Heritage {
  const { module, node } = heir;
  const kept: string[] = [];
  const inherited: Member[] = [];
  for (const parent of node.extends) {
    const text = module.text(parent);
    const shown = shownHeir(heir, text, isPublic);
    if (shown !== undefined) {
      kept.push(`Omit<${shown}, ${ownNames(heir)}>`);
      continue;
    }
    const [, base = text, keys] = /^Pick<(\w+), (.*)>$/.exec(text) ?? [];
    const found = module.find(base);
    if (found?.node.type !== "TSInterfaceDeclaration" || isPublic(found)) {
      kept.push(text);
      continue;
    }
    const of = { module: found.module, node: found.node };
    const above = heritage(of, isPublic);
    const members = [...above.inherited, ...membersOf(of.module, of.node.body.body, isPublic)];
    kept.push(...above.kept);
    inherited.push(...members.filter((member) => keys?.includes(`"${nameIn(member)}"`) ?? true));
  }
  return { kept, inherited };
}

/** Returns an earlier exported interface with the same base type, whose members need not be shown twice. */
function shownHeir(
  { module, node }: DeclaredInterface,
  base: string,
  isPublic: IsPublic,
): string | undefined {
  const heirs = module.names.filter((name) => {
    const other = module.find(name);
    if (other?.node.type !== "TSInterfaceDeclaration" || other.node.start >= node.start)
      return false;
    return isPublic(other) && other.node.extends.some((parent) => module.text(parent) === base);
  });
  return heirs[0];
}

function ownNames({ module, node }: DeclaredInterface): string {
  const names = membersOf(module, node.body.body, () => true).map(
    (member) => `"${nameIn(member)}"`,
  );
  return [...new Set(names)].join(" | ");
}

export function nameIn({ signature }: Member): string {
  return /^(?:get |set |static )*\[?"?([\w.$]+)/.exec(signature)?.[1] ?? signature;
}

function membersOf(
  module: Module,
  elements: readonly Element[],
  isPublic: IsPublic,
): readonly Member[] {
  return elements.flatMap((element) => {
    const comment = module.docstringOf(element);
    const code = withoutInternal(module, module.text(element), isPublic);
    const isHidden =
      ("key" in element && element.key?.type === "PrivateIdentifier") ||
      (/^(?:override )?readonly (?:name = |name: string;?$|\[Symbol\.toStringTag\])/.test(code) &&
        element.type === "PropertyDefinition") ||
      ("accessibility" in element && /private|protected/.test(element.accessibility ?? "")) ||
      comment?.includes("@internal") ||
      (code.startsWith("constructor(") &&
        typesIn(code).some((type) => {
          const declared = module.find(type);
          return declared !== undefined && !isPublic(declared);
        }));
    if (isHidden) return [];
    const docstring = readDocstring(comment);
    const parameters = docstring.parameters.filter((text) =>
      code.includes(/^`(\w+)/.exec(text)?.[1] ?? ""),
    );
    const parts = partsOf(module, element, isPublic);
    return [
      { parts, signature: tidy(withUnions(module, code)), docstring: { ...docstring, parameters } },
    ];
  });
}

function partsOf(module: Module, element: Element, isPublic: IsPublic): readonly Member[] {
  if (element.type !== "TSPropertySignature") return [];
  const type = element.typeAnnotation?.typeAnnotation;
  if (type?.type !== "TSTypeLiteral") return [];
  const parts = membersOf(module, type.members, isPublic);
  return parts.filter(({ docstring }) => docstring.text !== "");
}

/** Replaces expressions such as `(typeof logLevels)[number]` by the list's values. */
function withUnions(module: Module, code: string): string {
  return code.replaceAll(/\(typeof (\w+)\)\[number\]/g, (reference, name) => {
    const declared = module.find(name);
    const list = declared?.module.text(declared.node);
    const [, texts] = /: readonly \[(.*)\]/.exec(list ?? "") ?? [];
    return texts === undefined ? reference : texts.replaceAll(/,\s*/g, " | ").replace(/ \| $/, "");
  });
}

function tidy(code: string): string {
  return code
    .replace(/[;,]$/, "")
    .replace(/^(?:(?:override|readonly|declare) )+/, "")
    .replaceAll(/(?<=[{;(,] ?)readonly (?=\[?["\w]+\]?\??:)/g, "")
    .replaceAll(/(?<=; )readonly /g, "")
    .replaceAll("; }", " }")
    .replaceAll(/< (?=\w)|(?<=\w) (?=>\()/g, (space) => space.trim());
}
