import type { Project } from "./project.ts";
import { needsOf } from "./store.ts";

/** The Node that a bot brings along where the installed one is too old. */
const NODE = "^24.0.0";

/** Fills in the package.json of a template. */
export function manifest(template: string, project: Project): string {
  const { ownNode, packageManager } = project;
  const { dependencies, scripts } = needsOf[project.store];
  const base: Record<string, unknown> = JSON.parse(template);
  return json({
    ...base,
    name: project.name,
    // npm 12 runs no install script that is not named here; npm 11 asks for the list. Node's own
    // package needs its script, also when it is added later. The SQLite binding ships its binaries.
    allowScripts: { node: true, "better-sqlite3": false },
    ...(packageManager === "bun" && { trustedDependencies: ["node"] }),
    scripts: { ...record(base["scripts"]), ...scripts },
    dependencies: sorted({
      ...record(base["dependencies"]),
      ...dependencies,
      "service-bot": project.serviceBot.spec,
    }),
    devDependencies: sorted({ ...record(base["devDependencies"]), ...(ownNode && { node: NODE }) }),
  });
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
