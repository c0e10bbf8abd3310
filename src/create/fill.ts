import { addCommand, execCommand, lockFile, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";
import { needsOf } from "./store.ts";
import { type Toolchain, toolchainOf } from "./toolchain.ts";

/** Two lines that hold the same mark, such as `# {{#postgres}}` and `# {{/postgres}}`, and those between. */
const section = /^[^\n]*\{\{#(\w+)\}\}[^\n]*\n(.*?)^[^\n]*\{\{\/\1\}\}[^\n]*\n/gms;

/**
 * Fills in the marks of a template: `{{name}}` and those of `valuesOf`, `{{run dev}}` (any script), `{{exec service-bot}}`
 * (any command of a dependency), `{{add pg}}` and `{{add dev node@24}}` (any package). What stands between the
 * lines `{{#postgres}}` and `{{/postgres}}` is for bots with that store, or with the package manager of that name;
 * between `{{#setup}}` and `{{/setup}}`, for those whose package manager does not come with Node. Anything else in
 * double braces is left alone: workflows have such expressions too.
 */
export function fill(text: string, project: Project): string {
  const { packageManager, store } = project;
  const toolchain = toolchainOf(packageManager, project.packageManagerMajor);
  const sections: string[] = [store, packageManager];
  if (toolchain.setup !== undefined) sections.push("setup");
  return Object.entries(valuesOf(project, toolchain))
    .reduce(
      (filled, [mark, value]) => filled.replaceAll(`{{${mark}}}`, () => value),
      text.replace(section, (_, of: string, lines: string) => (sections.includes(of) ? lines : "")),
    )
    .replace(/\{\{run ([\w-]+)\}\}/g, (_, script: string) => scriptCommand(packageManager, script))
    .replace(/\{\{exec ([\w-]+)\}\}/g, (_, command: string) => execCommand(packageManager, command))
    .replace(/\{\{add (dev )?([\w@.-]+)\}\}/g, (_, dev: string | undefined, added: string) =>
      addCommand(packageManager, added, dev !== undefined),
    );
}

function valuesOf(
  { name, packageManager, store }: Project,
  { setup = "", ci, production, unlocked, files }: Toolchain,
): Readonly<Record<string, string>> {
  return {
    name,
    // Compose takes no dots, which npm does.
    "compose name": name.replaceAll(/[^a-z0-9_-]/g, "-"),
    "compose database": needsOf[store].composeUrl,
    install: `${packageManager} install`,
    setup,
    // To Dependabot pnpm and yarn are npm.
    "dependabot ecosystem": packageManager === "bun" ? "bun" : "npm",
    "ci install": ci,
    "image files": files.join(" "),
    "image install": `if [ -f ${lockFile[packageManager]} ]; then ${production}; else ${unlocked}; fi`,
  };
}
