import { basename } from "node:path";
import {
  type PackageManager,
  runsBots,
  type Store,
  stores,
  type Template,
  templates,
} from "./choices.ts";
import { type Dependency, dependencyOf, type Source } from "./dependency.ts";
import { checkDirectory } from "./directory.ts";
import type { Io } from "./io.ts";
import { packageName } from "./name.ts";
import type { Options } from "./options.ts";
import { detectPackageManager } from "./package-manager.ts";
import { majorOf } from "./toolchain.ts";

/** The bot to be made, with every choice settled. */
export interface Project {
  /** Where it goes, absolute. */
  readonly target: string;
  readonly name: string;
  readonly template: Template;
  readonly store: Store;
  readonly packageManager: PackageManager;
  readonly packageManagerMajor: number;
  readonly install: boolean;
  readonly git: boolean;
  readonly serviceBot: Dependency;
  /** True when the bot brings its own Node, because the one in use is too old for it. */
  readonly ownNode: boolean;
}

/**
 * Takes the defaults for whatever the command line left open.
 *
 * @throws {UsageError} when the directory cannot be a bot's
 */
export async function settle(
  options: Options & { readonly dir: string },
  source: Source,
  io: Io,
): Promise<Project> {
  const target = checkDirectory(options.dir, io);
  const name = packageName(basename(target));
  const packageManager = options.packageManager ?? detectPackageManager(io.env);
  const { install = true, git = true } = options;
  return {
    target,
    name,
    template: options.template ?? templates[0],
    store: options.store ?? stores[0],
    packageManager,
    packageManagerMajor: await majorOf(packageManager, install && !options.dryRun, io),
    install,
    git,
    serviceBot: dependencyOf(source, options.serviceBot),
    ownNode: !runsBots(io.nodeVersion),
  };
}
