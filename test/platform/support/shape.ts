/**
 * Compares a value with a shape from the documentation, such as `{items: [{id, at}], nextCursor}`. A `?` marks an
 * optional field, and `…` stands for further fields. Fields without an inner shape may have any value.
 */
export function differences(shape: string, value: unknown): string[] {
  return compare(new Parser(shape).object(), value, "");
}

interface Shape {
  readonly fields: ReadonlyMap<string, Shape | undefined>;
  readonly optional: ReadonlySet<string>;
  readonly isOpen: boolean;
}

function compare({ fields, optional, isOpen }: Shape, value: unknown, path: string): string[] {
  const given: Readonly<Record<string, unknown>> = { ...Object(value) };
  const missing = [...fields.keys()].filter((name) => !(name in given) && !optional.has(name));
  const unnamed = isOpen ? [] : Object.keys(given).filter((name) => !fields.has(name));
  const inner = [...fields].flatMap(([name, shape]) => {
    if (shape === undefined || !(name in given)) return [];
    return [given[name]].flat().flatMap((one) => compare(shape, one, `${path}${name}.`));
  });
  return [
    ...missing.map((name) => `the response has no ${path}${name}`),
    ...unnamed.map((name) => `the page does not name ${path}${name}`),
    ...inner,
  ];
}

class Parser {
  readonly #tokens: string[];

  constructor(text: string) {
    this.#tokens = text.match(/\w+|[{}[\]:?…]/g) ?? [];
  }

  object(): Shape {
    const fields = new Map<string, Shape | undefined>();
    const optional = new Set<string>();
    let isOpen = false;
    this.#skip("{");
    while (this.#tokens.length > 0 && !this.#skip("}")) {
      const name = this.#tokens.shift() ?? "";
      if (name === "…") isOpen = true;
      else fields.set(name, undefined);
      if (this.#skip("?")) optional.add(name);
      if (this.#skip(":")) fields.set(name, this.#value());
    }
    return { fields, optional, isOpen };
  }

  /** Reads an object, or a list of objects. */
  #value(): Shape {
    const isList = this.#skip("[");
    const shape = this.object();
    if (isList) this.#skip("]");
    return shape;
  }

  #skip(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }
}
