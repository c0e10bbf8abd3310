import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cancelled, CreateError } from "./errors.ts";
import type { Io } from "./io.ts";
import { tail } from "./run.ts";

/** Where the scaffolder itself comes from. */
export interface Source {
  /** The directory that holds `templates/`. */
  readonly root: string;
  readonly version: string;
  /** From the registry, or a checkout of the repository? */
  readonly origin: "registry" | "checkout";
  /** Makes a fresh checkout ready to pack; says what it does on standard error. */
  prepare?(): void;
}

/** How a bot depends on service-bot. */
export interface Dependency {
  /** What package.json says. */
  readonly spec: string;
  /** Where in the bot the packed checkout lies, when that is what the bot depends on. */
  readonly tarball?: string;
}

/**
 * A bot made from a checkout carries the packed checkout inside, so that it is complete: it can be
 * moved, committed and built elsewhere.
 */
export function dependencyOf(source: Source, requested: string | undefined): Dependency {
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
