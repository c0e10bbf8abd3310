import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const checkout: string = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Puts `service-bot` into the node_modules of a folder: the sources of this checkout. Packed, the package has its entries in
 * dist; here they are the sources themselves.
 *
 * @param entries which ones, such as `{ ".": "./src/index.ts" }`
 */
export function linkPackage(folder: string, entries: Readonly<Record<string, string>>): void {
  const installed = join(folder, "node_modules", "service-bot");
  mkdirSync(installed, { recursive: true });
  const manifest = { name: "service-bot", type: "module", exports: entries };
  writeFileSync(join(installed, "package.json"), JSON.stringify(manifest));
  symlinkSync(join(checkout, "src"), join(installed, "src"));
}
