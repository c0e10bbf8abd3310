import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const checkout: string = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Links this checkout's sources as `service-bot` into a folder's node_modules. The entries point to the sources instead
 * of dist.
 *
 * @param entries for example `{ ".": "./src/index.ts" }`
 */
export function linkPackage(folder: string, entries: Readonly<Record<string, string>>): void {
  const installed = join(folder, "node_modules", "service-bot");
  mkdirSync(installed, { recursive: true });
  const manifest = { name: "service-bot", type: "module", exports: entries };
  writeFileSync(join(installed, "package.json"), JSON.stringify(manifest));
  symlinkSync(join(checkout, "src"), join(installed, "src"));
}
