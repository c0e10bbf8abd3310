import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { Store } from "./options.ts";
import { packageManagerFacts, scriptCommand } from "./package-manager.ts";
import type { Project } from "./project.ts";

/** A file in a new bot. `path` is relative to the bot, with slashes on every system. */
export interface BotFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly mode?: number;
}

export interface TemplateFile extends BotFile {
  readonly content: string;
}

export function readTemplate(directory: string): TemplateFile[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      const stored = relative(directory, file).split(sep).join("/");
      return { path: botPath(stored), content: readFileSync(file, "utf8") };
    });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Converts a stored name to the name in a bot. npm omits or renames dotfiles, and tools treat any folder with a
 * package.json as a package. Templates therefore store `_gitignore` and `_package.json`.
 */
function botPath(stored: string): string {
  return stored
    .split("/")
    .map((part) => (part === "_package.json" ? "package.json" : part.replace(/^_/, ".")))
    .join("/");
}

const OWNER_ONLY = 0o600;

/**
 * Omits the packed checkout, because packing is slow.
 *
 * @param template files of the template and the store
 */
export function planFiles(template: readonly TemplateFile[], project: Project): BotFile[] {
  const files = template.map(({ path, content }) => {
    const text = fill(content, project);
    return { path, content: path === "package.json" ? manifest(text, project) : text };
  });
  const example = files.find(({ path }) => path === ".env.example")?.content ?? "";
  return [
    ...files,
    { path: ".env", content: envFile(example, newSecrets(), project.store), mode: OWNER_ONLY },
    ...packageManagerFiles(project),
  ].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function packageManagerFiles({ packageManager, packageManagerMajor }: Project): BotFile[] {
  if (packageManager === "yarn") {
    const content = "# Node looks for packages in node_modules.\nnodeLinker: node-modules\n";
    return [{ path: ".yarnrc.yml", content }];
  }
  // pnpm 9 reads this file only as a list of workspace packages, and rejects it without one.
  if (packageManager === "pnpm" && packageManagerMajor >= 10) {
    // Allow the `node` package's install script, in case the package is added later.
    const content =
      "# Which packages may run install scripts.\nallowBuilds:\n  better-sqlite3: false\n  node: true\n";
    return [{ path: "pnpm-workspace.yaml", content }];
  }
  return [];
}

/** Begins or ends a section, such as `# {{#postgres}}` and `# {{/postgres}}`. */
const marker = /\{\{([#/])(\w+)\}\}/;

/** Removes the lines of all sections except the wanted ones, and the markers' own lines. */
function selectSections(text: string, wanted: readonly string[]): string {
  let removed: string | undefined;
  const lines = text.split("\n").filter((line) => {
    const [, sign, of] = marker.exec(line) ?? [];
    if (of === undefined) return removed === undefined;
    if (sign === "/" && of === removed) removed = undefined;
    else if (sign === "#" && !wanted.includes(of)) removed ??= of;
    return false;
  });
  return lines.join("\n");
}

/**
 * Fills in a template's placeholders: `{{name}}` and the names in `valuesOf`, `{{run dev}}` (any script), `{{exec
 * service-bot}}` (any dependency's command), `{{add pg}}` and `{{add dev node@24}}` (any package). Keeps a section such
 * as `{{#postgres}}` … `{{/postgres}}` only for bots with that store or package manager. Keeps `{{#setup}}` sections
 * only if the package manager does not come with Node. Leaves other text in double braces unchanged, because CI
 * workflows use such expressions.
 */
function fill(text: string, project: Project): string {
  const { packageManager, store } = project;
  const facts = packageManagerFacts[packageManager];
  const sections: string[] = [store, packageManager];
  if (packageManager !== "npm") sections.push("setup");
  return Object.entries(valuesOf(project))
    .reduce(
      (filled, [mark, value]) => filled.replaceAll(`{{${mark}}}`, () => value),
      selectSections(text, sections),
    )
    .replace(/\{\{run ([\w-]+)\}\}/g, (_, script: string) => scriptCommand(packageManager, script))
    .replace(/\{\{exec ([\w-]+)\}\}/g, (_, command: string) => `${facts.exec} ${command}`)
    .replace(
      /\{\{add (dev )?([\w@.-]+)\}\}/g,
      (_, dev: string | undefined, added: string) =>
        `${dev === undefined ? facts.add : facts.addDev} ${added}`,
    );
}

function valuesOf(project: Project): Readonly<Record<string, string>> {
  const { name, packageManager, packageManagerMajor, store } = project;
  const { files, lockFile, toolchain } = packageManagerFacts[packageManager];
  const { setup = "", ci, production, unlocked } = toolchain(packageManagerMajor);
  return {
    name,
    // Unlike npm, Compose does not permit dots.
    "compose name": name.replaceAll(/[^a-z0-9_-]/g, "-"),
    "compose database": needsOf[store].composeUrl,
    install: `${packageManager} install`,
    setup,
    // Dependabot treats pnpm and yarn as npm.
    "dependabot ecosystem": packageManager === "bun" ? "bun" : "npm",
    "ci install": ci,
    "image files": files.join(" "),
    "image install": `if [ -f ${lockFile} ]; then ${production}; else ${unlocked}; fi`,
    "image install dev": `if [ -f ${lockFile} ]; then ${ci}; else ${packageManager} install; fi`,
  };
}

const NODE = "^24.0.0";

function manifest(template: string, project: Project): string {
  const { ownNode, packageManager } = project;
  const { dependencies, scripts } = needsOf[project.store];
  const base: Record<string, unknown> = JSON.parse(template);
  return json({
    ...base,
    name: project.name,
    // npm 12 runs only the install scripts listed here, and npm 11 prompts for the list. The `node` package needs its
    // script, even if it is added later. The SQLite binding ships its binaries.
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

function envFile(example: string, secrets: Secrets, store: Store): string {
  const { apiKey, webhookSecret, databasePassword } = secrets;
  const values = [
    ["SERVICE_API_KEY", apiKey],
    ["SERVICE_WEBHOOK_SECRET", webhookSecret],
    ...(store === "postgres" ? ([["PGPASSWORD", databasePassword]] as const) : []),
  ] as const;
  return values.reduce((text, [name, value]) => set(text, name, value), example);
}

function set(text: string, name: string, value: string): string {
  const line = new RegExp(`^${name}=.*$`, "m");
  if (!line.test(text)) throw new Error(`The template's .env.example has no line for ${name}.`);
  return text.replace(line, () => `${name}=${value}`);
}

/** Secrets for the local platform. The real ones come from the developer portal. */
interface Secrets {
  readonly apiKey: string;
  readonly webhookSecret: string;
  readonly databasePassword: string;
}

function newSecrets(): Secrets {
  return {
    apiKey: `sbk_${randomBytes(24).toString("hex")}`,
    webhookSecret: `whsec_${randomBytes(32).toString("hex")}`,
    databasePassword: randomBytes(24).toString("hex"),
  };
}

interface StoreNeeds {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  /** `DATABASE_URL` of the bot in compose.yaml. */
  readonly composeUrl: string;
}

/** Starts a development server. compose.yaml is for public servers and requires a domain. */
const START = "docker compose --file compose.dev.yaml up --detach --wait";

export const needsOf: Readonly<Record<Store, StoreNeeds>> = {
  sqlite: { dependencies: {}, scripts: {}, composeUrl: "file:data/bot.db" },
  postgres: {
    dependencies: { pg: "^8.11.0" },
    scripts: { db: START },
    composeUrl: "postgres://bot@postgres:5432/bot",
  },
};
