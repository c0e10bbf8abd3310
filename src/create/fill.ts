import { ciInstall, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";

/**
 * Fills in the marks of a template: `{{name}}`, `{{install}}`, `{{ci install}}` and `{{run dev}}`
 * (any script). Anything else in double braces is left alone: workflows have such expressions too.
 */
export function fill(text: string, { name, packageManager }: Project): string {
  return text
    .replaceAll("{{name}}", name)
    .replaceAll("{{install}}", `${packageManager} install`)
    .replaceAll("{{ci install}}", ciInstall[packageManager])
    .replace(/\{\{run ([\w-]+)\}\}/g, (_, script: string) => scriptCommand(packageManager, script));
}
