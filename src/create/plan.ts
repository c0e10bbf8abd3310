import { envExample, envFile } from "./env-file.ts";
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
  const files = template.map(({ path, content }): BotFile => {
    return { path, content: fileOf(path, fill(content, project), project) };
  });
  const stored = template.find(({ path }) => path === ".env.example")?.content ?? "";
  const example = fileOf(".env.example", fill(stored, project), project);
  return [
    ...files,
    { path: ".env", content: envFile(example, secrets, project.store), mode: OWNER_ONLY },
    ...packageManagerFiles(project),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function fileOf(path: string, text: string, project: Project): string {
  if (path === "package.json") return manifest(text, project);
  return path === ".env.example" ? envExample(text, project.store) : text;
}

/** What a package manager wants to be told in a file of its own. */
function packageManagerFiles({ packageManager, ownNode }: Project): BotFile[] {
  if (packageManager === "yarn") {
    const content = "# Node looks for packages in node_modules.\nnodeLinker: node-modules\n";
    return [{ path: ".yarnrc.yml", content }];
  }
  if (packageManager === "pnpm") {
    const node = ownNode ? "  node: true\n" : "";
    const content = `# Which packages may run install scripts.\nallowBuilds:\n  better-sqlite3: false\n${node}`;
    return [{ path: "pnpm-workspace.yaml", content }];
  }
  return [];
}
