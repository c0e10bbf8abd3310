import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { checkDirectory, packageName } from "./directory.ts";
import { Cancelled, CreateError } from "./errors.ts";
import { type Io, tail } from "./io.ts";
import {
  type Options,
  type PackageManager,
  runsBots,
  type Store,
  stores,
  type Template,
  templates,
} from "./options.ts";
import { detectPackageManager, majorOf } from "./package-manager.ts";

export interface Source {
  /** The folder that contains `templates/`. */
  readonly root: string;
  readonly version: string;
  /** `checkout` is a clone of the repository. */
  readonly origin: "registry" | "checkout";
  /** Prepares a fresh checkout for packing. Prints progress to standard error. */
  prepare?(): void;
}

export interface Dependency {
  readonly spec: string;
  /** Path of the packed checkout in the bot, if the bot depends on it. */
  readonly tarball?: string;
}

/**
 * A bot created from a checkout includes the packed checkout, so that it can be moved, committed and built elsewhere.
 */
function dependencyOf(source: Source, requested: string | undefined): Dependency {
  if (requested !== undefined) return { spec: requested };
  if (source.origin === "registry") return { spec: `^${source.version}` };
  const tarball = `vendor/service-bot-${source.version}.tgz`;
  return { spec: `file:${tarball}`, tarball };
}

/**
 * Packs the checkout. Reuses the last tarball if nothing has changed.
 *
 * @throws {CreateError} with the script's output
 * @throws {Cancelled}
 */
export async function packCheckout(source: Source, io: Io): Promise<Uint8Array> {
  source.prepare?.();
  const out = mkdtempSync(join(tmpdir(), "create-bot-"));
  try {
    const script = join(source.root, "scripts", "pack.ts");
    const { code, interrupted, output } = await io.run(
      process.execPath,
      [script, "--cached", "--out", out],
      { cwd: source.root, env: io.env },
    );
    if (interrupted) throw new Cancelled();
    const tarball = readdirSync(out).find((name) => name.endsWith(".tgz"));
    if (code === 0 && tarball !== undefined) return readFileSync(join(out, tarball));
    throw new CreateError(
      `Cannot build an npm package from this checkout. Nothing was written.\n${tail(output)}\n` +
        `Fix the problem, or pass --service-bot ^${source.version} to use the published version.`,
    );
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

export interface Project {
  readonly target: string;
  readonly name: string;
  readonly template: Template;
  readonly store: Store;
  readonly packageManager: PackageManager;
  readonly packageManagerMajor: number;
  readonly install: boolean;
  readonly git: boolean;
  readonly serviceBot: Dependency;
  /** True if the bot depends on its own Node, because the running Node is too old. */
  readonly ownNode: boolean;
}

/** @throws {UsageError} if the directory is invalid */
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
