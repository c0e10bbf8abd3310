import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { aboutEvent, duringEvent } from "../faces/core.ts";
import { type SyntaxNode as Node, nodesUnder, parseSource } from "../support/syntax-tree.ts";
import { root } from "./markdown.ts";

export interface LogCall {
  readonly file: string;
  readonly levels: readonly string[];
  readonly message: string;
  readonly fields: readonly string[];
}

const levels: ReadonlySet<string> = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

/** Folders that are not part of a bot or an MCP server. Their code prints for users, or does not log. */
const otherRooms = ["platform/", "cli/", "create/"];

export function logCalls(): LogCall[] {
  const source = join(root, "src");
  return globSync("**/*.ts", { cwd: source })
    .filter((path) => !otherRooms.some((room) => path.startsWith(room)))
    .sort()
    .flatMap((path) => callsIn(path, readFileSync(join(source, path), "utf8")));
}

/** Returns the fields of child loggers, such as a run's logger. Every line of a child has these fields. */
export function childFields(): string[] {
  const calls = globSync("**/*.ts", { cwd: join(root, "src") }).flatMap((path) =>
    new Source(path, readFileSync(join(root, "src", path), "utf8")).children(),
  );
  return [...new Set(calls.flat())].sort();
}

/**
 * @throws {Error} if a call's message or fields cannot be read from the source, because its documentation could then
 * not be checked
 */
function callsIn(file: string, text: string): LogCall[] {
  return new Source(file, text).calls();
}

class Source {
  readonly #file: string;
  readonly #nodes: readonly Node[];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#nodes = nodesUnder(parseSource(file, text));
  }

  calls(): LogCall[] {
    return this.#callsOf((callee) => isLogger(callee.object)).flatMap(({ callee, args }) => {
      const names = this.#levelsOf(callee);
      if (names.length === 0) return [];
      const [first, second] = args;
      const [fields, message] =
        this.#text(first) === undefined ? [first, second] : [undefined, first];
      const text = this.#text(message);
      if (text === undefined) throw this.#unreadable("message", first);
      return [
        { file: this.#file, levels: names, message: text, fields: this.#fields(fields).sort() },
      ];
    });
  }

  children(): string[][] {
    return this.#callsOf(
      ({ object, property }) => isLogger(object) && nameOf(property) === "child",
    ).map(({ args }) => this.#fields(args[0]));
  }

  #callsOf(fits: (callee: Node) => boolean): { readonly callee: Node; readonly args: Node[] }[] {
    return this.#nodes
      .filter(({ type }) => type === "CallExpression")
      .map((call) => ({ callee: call.callee as Node, args: call.arguments as Node[] }))
      .filter(({ callee }) => callee.type === "MemberExpression" && fits(callee));
  }

  #levelsOf({ computed, property }: Node): string[] {
    if (computed === true) return this.#choices(property as Node);
    const name = nameOf(property);
    return levels.has(name) ? [name] : [];
  }

  #choices(node: Node): string[] {
    const known = this.#resolve(node);
    if (known.type === "ConditionalExpression") {
      return [known.consequent, known.alternate].flatMap((branch) => this.#choices(branch as Node));
    }
    const text = this.#text(known);
    if (text === undefined) throw this.#unreadable("level", node);
    return [text];
  }

  #text(node: Node | undefined): string | undefined {
    const known = node && this.#resolve(node);
    return known?.type === "Literal" && typeof known.value === "string" ? known.value : undefined;
  }

  #fields(node: Node | undefined): string[] {
    if (node === undefined) return [];
    const known = this.#resolve(node);
    if (known.type !== "ObjectExpression") throw this.#unreadable("fields", node);
    return (known.properties as Node[]).flatMap((property) => {
      if (property.type === "SpreadElement") return this.#spread(property.argument as Node);
      if (property.computed === true) throw this.#unreadable("name of a field", node);
      return [nameOf(property.key)];
    });
  }

  #spread(node: Node): string[] {
    const called = node.type === "CallExpression" ? nameOf(node.callee) : undefined;
    // Another file defines the fields that every line of a run has.
    return called === "aboutEvent"
      ? Object.keys(duringEvent({ id: "1", trace: undefined }, aboutEvent))
      : this.#fields(node);
  }

  /** Resolves a name in this file to a constant's value, or to a function's result. */
  #resolve(node: Node): Node {
    if (node.type === "Identifier") {
      const [made, another] = this.#nodes.filter(
        ({ type, id, init }) =>
          type === "VariableDeclarator" && nameOf(id) === node.name && init !== null,
      );
      // This parser does not distinguish scopes, so each name may have only one meaning.
      if (another !== undefined) throw this.#unreadable("one meaning of a name", node);
      return made === undefined ? node : this.#resolve(made.init as Node);
    }
    if (node.type !== "CallExpression") return node;
    const called = this.#nodes.find(
      ({ type, id }) => type === "FunctionDeclaration" && nameOf(id) === nameOf(node.callee),
    );
    const returned = called && nodesUnder(called).filter(({ type }) => type === "ReturnStatement");
    return returned?.length === 1 ? this.#resolve(returned[0]?.argument as Node) : node;
  }

  #unreadable(what: string, node: Node | undefined): Error {
    return new Error(
      `${this.#file}: the ${what} of a line is not a constant (${node?.type ?? "missing"}), so that nothing can hold it to docs/operate/logs.md`,
    );
  }
}

/** Matches `log`, `logger`, `laterLog`, and properties with these names. */
function isLogger(node: unknown): boolean {
  const { type, property } = node as Node;
  const name = nameOf(type === "MemberExpression" ? property : node);
  return name === "log" || name === "logger" || name === "laterLog";
}

function nameOf(node: unknown): string {
  return String((node as Node | null)?.name ?? "");
}
