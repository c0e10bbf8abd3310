import type { Project } from "./project.ts";

/** What `--json` prints. */
export interface Result {
  /** Absolute. */
  readonly dir: string;
  readonly name: string;
  readonly template: string;
  readonly store: string;
  readonly packageManager: string;
  /** What the bot depends on, as package.json says it. */
  readonly serviceBot: string;
  /** Relative to `dir`, sorted; with --dry-run, what would have been written. */
  readonly files: readonly string[];
  readonly dryRun: boolean;
  readonly installed: boolean;
  /** Was a repository started? */
  readonly git: boolean;
  /** Does it have its first commit? */
  readonly committed: boolean;
  /** What to type next. */
  readonly next: readonly string[];
  /** Why the install failed, when it did. */
  readonly error?: { readonly message: string; readonly interrupted: boolean };
}

/** A result in which nothing but writing (or, with --dry-run, not even that) has happened yet. */
export function resultOf(project: Project, files: readonly string[]): Result {
  return {
    dir: project.target,
    name: project.name,
    template: project.template,
    store: project.store,
    packageManager: project.packageManager,
    serviceBot: project.serviceBot.spec,
    files,
    dryRun: false,
    installed: false,
    git: false,
    committed: false,
    next: [],
  };
}
