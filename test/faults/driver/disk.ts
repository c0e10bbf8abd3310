import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, "ballast");
  }

  /** Returns `undefined` if this process may not mount, which takes root or a privileged container. */
  static mount(megabytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), "service-bot-disk-"));
    try {
      const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder];
      execFileSync("mount", options, { stdio: "ignore" });
      return new SmallDisk(folder);
    } catch {
      rmSync(folder, { recursive: true });
      return undefined;
    }
  }

  fill(): void {
    const file = openSync(this.#ballast, "a");
    const block = Buffer.alloc(64 * 1024);
    try {
      for (let size = block.length; size >= 1; ) {
        const written = tryWrite(file, block.subarray(0, size));
        if (written < size) size = Math.floor(size / 2);
      }
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  unmount(): void {
    execFileSync("umount", [this.folder]);
    rmSync(this.folder, { recursive: true });
  }
}

function tryWrite(file: number, block: Buffer): number {
  try {
    return writeSync(file, block);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOSPC") return 0;
    throw error;
  }
}
