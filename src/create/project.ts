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

/** The origin of the scaffolder. */
export interface Source {
  /** The directory that holds `templates/`. */
  readonly root: string;
  readonly version: string;
  /** `checkout`: of the repository. */
  readonly origin: "registry" | "checkout";
  /** Makes a fresh checkout ready to pack, and reports that on standard error. */
  prepare?(): void;
}

/** The dependency of a bot on service-bot. */
export interface Dependency {
  /** The version in package.json. */
  readonly spec: string;
  /** The path of the packed checkout in the bot, if the bot depends on that. */
  readonly tarball?: string;
}

/** A bot made from a checkout carries the packed checkout, so that it can be moved, committed and built elsewhere. */
function dependencyOf(source: Source, requested: string | undefined): Dependency {
  if (requested !== undefined) return { spec: requested };
  if (source.origin === "registry") return { spec: `^${source.version}` };
  const tarball = `vendor/service-bot-${source.version}.tgz`;
  return { spec: `file:${tarball}`, tarball };
}

/**
 * Packs the checkout, once for as long as it stays unchanged.
 *
 * @throws {CreateError} with what the packing printed
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
      `This checkout could not be packed, and nothing was written:\n${tail(output)}\n` +
        `Mend it, or say what to depend on instead: --service-bot ^${source.version}`,
    );
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** The bot to make, with every choice settled. */
export interface Project {
  /** The absolute path of its directory. */
  readonly target: string;
  readonly name: string;
  readonly template: Template;
  readonly store: Store;
  readonly packageManager: PackageManager;
  readonly packageManagerMajor: number;
  readonly install: boolean;
  readonly git: boolean;
  readonly serviceBot: Dependency;
  /** True if the bot brings its own Node, because the one in use is too old. */
  readonly ownNode: boolean;
}

/**
 * Settles every choice, with the defaults for what the command line left open.
 *
 * @throws {UsageError} the directory cannot be a bot's
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
