import { ciInstall, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";
import { needsOf } from "./store.ts";

/** Two lines that hold a store's mark, such as `# {{#postgres}}` and `# {{/postgres}}`, and those between. */
const section = /^[^\n]*\{\{#(\w+)\}\}[^\n]*\n(.*?)^[^\n]*\{\{\/\1\}\}[^\n]*\n/gms;

/**
 * Fills in the marks of a template: `{{name}}`, `{{install}}`, `{{ci install}}`, `{{run dev}}` (any
 * script) and `{{compose database}}`. What stands between the lines `{{#postgres}}` and `{{/postgres}}` is for
 * bots with that store. Anything else in double braces is left alone: workflows have such expressions too.
 */
export function fill(text: string, { name, packageManager, store }: Project): string {
  return text
    .replace(section, (_, of: string, lines: string) => (of === store ? lines : ""))
    .replaceAll("{{name}}", name)
    .replaceAll("{{install}}", `${packageManager} install`)
    .replaceAll("{{ci install}}", ciInstall[packageManager])
    .replaceAll("{{compose database}}", needsOf[store].composeUrl)
    .replace(/\{\{run ([\w-]+)\}\}/g, (_, script: string) => scriptCommand(packageManager, script));
}
