import { drivers } from "./drivers.ts";

const { Sqlite, pg } = drivers;

export function countStatements(): () => number {
  let count = 0;
  const watch = (methods: object, names: readonly string[]) => {
    const table = methods as Record<string, (...given: unknown[]) => unknown>;
    for (const name of names) {
      const original = table[name];
      if (original === undefined) throw new Error(`there is no method ${name}`);
      table[name] = function (this: unknown, ...given) {
        count += 1;
        return original.apply(this, given);
      };
    }
  };
  const memory = new Sqlite(":memory:");
  watch(Object.getPrototypeOf(memory.prepare("SELECT 1")), ["run", "get", "all"]);
  memory.close();
  watch(Sqlite.prototype, ["exec"]);
  watch(pg.Client.prototype, ["query"]);
  return () => count;
}
