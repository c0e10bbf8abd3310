import { readFileSync } from "node:fs";

/** A unit of systemd, by setting. One that stands there several times has all its values. */
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

  /** Undefined where it is not set; throws where it is set twice. */
  value(name: string): string | undefined {
    const all = this.all(name);
    if (all.length > 1) throw new Error(`${name} is set ${all.length} times`);
    return all[0];
  }

  all(name: string): readonly string[] {
    return this.#settings.get(name) ?? [];
  }
}
