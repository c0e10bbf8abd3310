import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

export interface LockedPackage {
  readonly name: string;
  /** Folder relative to package-lock.json, such as `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly version?: string | undefined;
  readonly resolved?: string | undefined;
  readonly integrity?: string | undefined;
  readonly dev?: boolean | undefined;
  readonly devOptional?: boolean | undefined;
  readonly peer?: boolean | undefined;
  readonly link?: boolean | undefined;
  readonly hasInstallScript?: boolean | undefined;
}

type Entry = Omit<LockedPackage, "name" | "path">;

const entry: z.ZodType<Entry> = z.object({
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  dev: z.boolean().optional(),
  devOptional: z.boolean().optional(),
  peer: z.boolean().optional(),
  link: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
});

const lockfile: z.ZodType<{ packages: Record<string, Entry> }> = z.object({
  lockfileVersion: z.literal(3),
  packages: z.record(z.string(), entry),
});

export function lockedPackages(folder: string): readonly LockedPackage[] {
  const text = readFileSync(join(folder, "package-lock.json"), "utf8");
  const { packages } = lockfile.parse(JSON.parse(text));
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, locked]) => ({ ...locked, path, name: path.replace(/^.*node_modules\//, "") }));
}

export function isProduction({ dev, devOptional, peer }: LockedPackage): boolean {
  return !dev && !devOptional && !peer;
}
