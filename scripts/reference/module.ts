import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isolatedDeclarationSync } from "rolldown/experimental";
import { type ESTree, parseSync } from "rolldown/utils";

export type Node = { readonly start: number; readonly end: number };

export interface Declared {
  readonly module: Module;
  readonly node: ESTree.Declaration;
  readonly docstring: string | undefined;
}

export function idOf({ module, node }: Declared): string {
  return `${module.path}:${node.start}`;
}

export class Module {
  readonly path: string;
  readonly #text: string;
  readonly #program: ESTree.Program;
  readonly #docstrings: ReadonlyMap<number, string>;

  constructor(path: string) {
    this.path = path;
    const { code, errors } = isolatedDeclarationSync(path, readFileSync(path, "utf8"));
    if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
    const { program, comments } = parseSync(path.replace(/\.ts$/, ".d.ts"), code);
    this.#text = code;
    this.#program = program;
    this.#docstrings = new Map(
      comments
        .filter(({ type, value }) => type === "Block" && value.startsWith("*"))
        .map(({ value, end }) => [end + spaceAt(code, end), value]),
    );
  }

  /** The docstring at the beginning of the file. */
  get about(): string | undefined {
    return leadingDocstring(readFileSync(this.path, "utf8"));
  }

  text({ start, end }: Node): string {
    return this.#text
      .slice(start, end)
      .replaceAll(/\/\*[\s\S]*?\*\//g, "")
      .replaceAll(/\s+/g, " ")
      .trim();
  }

  docstringOf({ start }: Node): string | undefined {
    return this.#docstrings.get(start);
  }

  /** Finds a declaration in this file, exported or not, or one that the file imports. */
  find(name: string): Declared | undefined {
    for (const statement of this.#program.body) {
      const exported =
        statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
      if (exported !== null && nameOf(exported) === name && isDeclaration(exported)) {
        return { module: this, node: exported, docstring: this.docstringOf(statement) };
      }
      if (!("source" in statement) || !statement.source || !("specifiers" in statement)) continue;
      for (const specifier of statement.specifiers) {
        if (localName(specifier) !== name || !statement.source.value.startsWith(".")) continue;
        return this.#other(statement.source.value).find(importedName(specifier));
      }
    }
    return undefined;
  }

  get names(): readonly string[] {
    return this.#program.body.flatMap((statement) => {
      if (statement.type !== "ExportNamedDeclaration") return [];
      const own = statement.declaration === null ? undefined : nameOf(statement.declaration);
      return own === undefined ? statement.specifiers.map(localName) : [own];
    });
  }

  /** Names that the file exports only as types. */
  get onlyTypes(): readonly string[] {
    return this.#program.body.flatMap((statement) => {
      if (statement.type !== "ExportNamedDeclaration") return [];
      const isType = (specifier: ESTree.ExportSpecifier) =>
        statement.exportKind === "type" || specifier.exportKind === "type";
      return statement.specifiers.filter(isType).map(localName);
    });
  }

  #other(specifier: string): Module {
    return moduleAt(join(dirname(this.path), specifier));
  }
}

const known = new Map<string, Module>();

/** Reads each file only once. */
export function moduleAt(path: string): Module {
  const module = known.get(path) ?? new Module(path);
  known.set(path, module);
  return module;
}

function leadingDocstring(text: string): string | undefined {
  return /^\/\*(\*[\s\S]*?)\*\//.exec(text)?.[1];
}

function spaceAt(text: string, from: number): number {
  return text.slice(from).search(/\S|$/);
}

function isDeclaration(node: ESTree.Node): node is ESTree.Declaration {
  return /^(?:TS\w+Declaration|Class|ClassDeclaration|VariableDeclaration|FunctionDeclaration|TSDeclareFunction)$/.test(
    node.type,
  );
}

function nameOf(node: ESTree.Node): string | undefined {
  if (node.type === "VariableDeclaration") {
    const id = node.declarations[0]?.id;
    return id?.type === "Identifier" ? id.name : undefined;
  }
  if (!("id" in node) || node.id === null || node.id === undefined) return undefined;
  return typeof node.id === "object" && "name" in node.id ? String(node.id.name) : undefined;
}

type Specifier = ESTree.ImportDeclarationSpecifier | ESTree.ExportSpecifier;

/** Returns the name in the file that imports or exports it. */
function localName(specifier: Specifier): string {
  const at = specifier.type === "ExportSpecifier" ? specifier.exported : specifier.local;
  return "name" in at ? at.name : at.value;
}

/** Returns the name in the file that declares it. */
function importedName(specifier: Specifier): string {
  if (specifier.type === "ExportSpecifier") {
    return "name" in specifier.local ? specifier.local.name : specifier.local.value;
  }
  if (specifier.type !== "ImportSpecifier") return "default";
  return "name" in specifier.imported ? specifier.imported.name : specifier.imported.value;
}
