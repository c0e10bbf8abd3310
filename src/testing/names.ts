export type Kind = "event" | "conversation" | "post" | "comment" | "message" | "person";

const prefixes: Readonly<Record<string, Kind>> = {
  c: "conversation",
  p: "post",
  cm: "comment",
  m: "message",
  evt: "event",
};

/** Maps a test's names to the platform's names, and back. */
export class Names {
  readonly #actual = new Map<string, string>();
  readonly #displayNames = new Map<string, string>();

  has(kind: Kind, name: string): boolean {
    return this.#actual.has(`${kind} ${name}`);
  }

  find(kind: Kind, name: string): string | undefined {
    return this.#actual.get(`${kind} ${name}`);
  }

  /** Returns the platform's name. A name that is new to the test never matches an existing object on the platform. */
  actual(kind: Kind, name: string): string {
    return this.find(kind, name) ?? (this.#displayNames.has(name) ? `unknown_${name}` : name);
  }

  /** Binds a test's name to a platform name. Keeps an existing binding. */
  bind(
    kind: Kind,
    name: string | undefined,
    actual: string | undefined,
    shown: string | undefined = name,
  ): void {
    if (name === undefined || actual === undefined || this.has(kind, name)) return;
    this.#actual.set(`${kind} ${name}`, actual);
    if (shown !== undefined && !this.#displayNames.has(actual))
      this.#displayNames.set(actual, shown);
  }

  /** Returns the test's name. A new platform object keeps its id, unless the test already uses that id. */
  displayName(actual: string, field: string): string {
    const known = this.#displayNames.get(actual);
    if (known !== undefined || /sername$/.test(field)) return known ?? actual;
    const kind = prefixes[/^([a-z]+)_\d+$/.exec(actual)?.[1] ?? ""];
    if (kind === undefined) return actual;
    const name = this.has(kind, actual) ? `${actual}_of_bot` : actual;
    this.bind(kind, name, actual);
    return name;
  }
}
