import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Replaces functions of `node:fs` for all modules, until the test ends. */
export function replaceFs(functions: Partial<Record<keyof typeof fs, unknown>>): void {
  const real = Object.keys(functions).map((name) => [name, Reflect.get(fs, name)]);
  assign(functions);
  onTestFinished(() => assign(Object.fromEntries(real)));
}

function assign(functions: object): void {
  Object.assign(fs, functions);
  syncBuiltinESMExports();
}
