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

/** The bot to be made, with every choice settled. */
export interface Project {
  /** Where it goes, absolute. */
  readonly target: string;
  readonly name: string;
  readonly template: Template;
  readonly store: Store;
  readonly packageManager: PackageManager;
  readonly serviceBot: Dependency;
  /** True when the bot brings its own Node, because the one in use is too old for it. */
  readonly ownNode: boolean;
}

/**
 * Takes the defaults for whatever the command line left open.
 *
 * @throws {UsageError} when the directory cannot be a bot's
 */
export function settle(
  options: Options & { readonly dir: string },
  source: Source,
  io: Io,
): Project {
  const target = checkDirectory(options.dir, io);
  return {
    target,
    name: packageName(basename(target)),
    template: options.template ?? templates[0],
    store: options.store ?? stores[0],
    packageManager: options.packageManager ?? detectPackageManager(io.env),
    serviceBot: dependencyOf(source, options.serviceBot),
    ownNode: !runsBots(io.nodeVersion),
  };
}
