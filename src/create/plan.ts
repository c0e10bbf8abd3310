import { envFile } from "./env-file.ts";
import { fill } from "./fill.ts";
import { manifest } from "./manifest.ts";
import type { Project } from "./project.ts";
import type { Secrets } from "./secrets.ts";
import type { BotFile, TemplateFile } from "./template.ts";

/** Readable by its owner alone: it holds secrets. */
const OWNER_ONLY = 0o600;

/**
 * The files of a bot, sorted by path; all but the packed checkout, which takes time to make.
 *
 * @param template the files of the template, and those of the store
 */
export function planFiles(
  template: readonly TemplateFile[],
  project: Project,
  secrets: Secrets,
): BotFile[] {
  const files = template.map(({ path, content }) => {
    const text = fill(content, project);
    return { path, content: path === "package.json" ? manifest(text, project) : text };
  });
  const example = files.find(({ path }) => path === ".env.example")?.content ?? "";
  return [
    ...files,
    { path: ".env", content: envFile(example, secrets, project.store), mode: OWNER_ONLY },
    ...packageManagerFiles(project),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What a package manager wants to be told in a file of its own. */
function packageManagerFiles({ packageManager, packageManagerMajor }: Project): BotFile[] {
  if (packageManager === "yarn") {
    const content = "# Node looks for packages in node_modules.\nnodeLinker: node-modules\n";
    return [{ path: ".yarnrc.yml", content }];
  }
  // To pnpm 9 this file is the list of a workspace's packages, and it takes none without.
  if (packageManager === "pnpm" && packageManagerMajor >= 10) {
    // Node's own package needs its script, also when it is added later.
    const content =
      "# Which packages may run install scripts.\nallowBuilds:\n  better-sqlite3: false\n  node: true\n";
    return [{ path: "pnpm-workspace.yaml", content }];
  }
  return [];
}
