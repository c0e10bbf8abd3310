import { readFileSync } from "node:fs";

export class Unit {
  readonly #settings: Map<string, string[]>;

  constructor(file: string) {
    const lines = readFileSync(file, "utf8").split("\n");
    const settings = lines.flatMap((line) => {
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [{ name, value }];
    });
    this.#settings = new Map(
      [...Map.groupBy(settings, ({ name }) => name)].map(([name, all]) => [
        name,
        all.map(({ value }) => value),
      ]),
    );
  }

  /** Returns a setting's only value, or `undefined` if it is not set. @throws {Error} if it is set twice */
  value(name: string): string | undefined {
    const all = this.all(name);
    if (all.length > 1) throw new Error(`${name} is set ${all.length} times`);
    return all[0];
  }

  all(name: string): readonly string[] {
    return this.#settings.get(name) ?? [];
  }
}
