import { isBuiltin } from "node:module";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

export interface PackageImport {
  /** Name of the package, without a path inside the package. */
  readonly name: string;
  /** True for `import()`, after which the importing module can report a missing package in its own words. */
  readonly isLazy: boolean;
}

/** Names of `require` and `createRequire`, also in bundles. */
const REQUIRE = /^_*require(?:\$\d+)?$/;
const CREATE_REQUIRE = /^createRequire(?:\$\d+)?$/;

/**
 * Returns the packages that a module imports or requires, without Node's modules. A computed name is not found.
 *
 * @param file path of the module, whose extension distinguishes JavaScript from declarations
 */
export function packagesIn(file: string, code: string): readonly PackageImport[] {
  const found: PackageImport[] = [];
  const add = (specifier: string | undefined, isLazy = false) => {
    const name = specifier === undefined ? undefined : packageOf(specifier);
    if (name !== undefined) found.push({ name, isLazy });
  };
  const requires = new Set<string>();
  new Visitor({
    ImportDeclaration: ({ source }) => add(source.value),
    ExportNamedDeclaration: ({ source }) => add(source?.value),
    ExportAllDeclaration: ({ source }) => add(source.value),
    TSImportType: ({ source }) => add(source.value),
    TSExternalModuleReference: ({ expression }) => add(expression.value),
    ImportExpression: ({ source }) => add(textOf(source), true),
    VariableDeclarator: ({ id, init }) => {
      if (id.type === "Identifier" && createsRequire(init)) requires.add(id.name);
    },
    CallExpression: ({ callee, arguments: [specifier] }) => {
      if (isRequire(callee, requires)) add(textOf(specifier));
    },
  }).visit(parseSync(file, code).program);
  for (const [, types] of code.matchAll(/^\s*\/\/\/ <reference types="([^"]+)"/gm)) add(types);
  return found;
}

function isRequire(callee: ESTree.Expression, requires: ReadonlySet<string>): boolean {
  if (callee.type === "Identifier") return REQUIRE.test(callee.name) || requires.has(callee.name);
  if (callee.type !== "MemberExpression") return createsRequire(callee);
  // `require.resolve` and `import.meta.resolve`.
  const { object, property } = callee;
  if (property.type !== "Identifier" || property.name !== "resolve") return false;
  return object.type === "MetaProperty" || isRequire(object, requires);
}

function createsRequire(expression: ESTree.Expression | null): boolean {
  if (expression?.type !== "CallExpression") return false;
  const { callee } = expression;
  return callee.type === "Identifier" && CREATE_REQUIRE.test(callee.name);
}

function textOf(expression: ESTree.Argument | undefined): string | undefined {
  if (expression?.type === "Literal" && typeof expression.value === "string") {
    return expression.value;
  }
  if (expression?.type !== "TemplateLiteral" || expression.expressions.length > 0) return undefined;
  return expression.quasis[0]?.value.cooked ?? undefined;
}

function packageOf(specifier: string): string | undefined {
  if (/^(?:[./#]|[a-z]+:)/.test(specifier) || isBuiltin(specifier)) return undefined;
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
