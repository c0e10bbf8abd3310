import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder into which `npm run build` puts the page. */
export const PORTAL_FILES: URL = new URL("../../portal/static/", import.meta.url);

const INDEX = "index.html";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".woff2": "font/woff2",
};

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** True where the name holds a hash of the bytes, so that they never change. */
  readonly hashed: boolean;
}

interface Loaded {
  readonly index: string;
  /** By their path below the folder, with slashes. */
  readonly files: ReadonlyMap<string, PageFile>;
}

/** The files of the page. They are read as a whole, so that no path of a request ever leads to the disk. */
export class PageFiles {
  readonly #folder: string;
  #loaded: Loaded | undefined;

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder);
  }

  /** The page itself, as it is on the disk now; undefined where it was not built. */
  index(): string | undefined {
    this.#loaded = this.#load();
    return this.#loaded?.index;
  }

  /** @param path below `/portal/`, decoded */
  find(path: string): PageFile | undefined {
    this.#loaded ??= this.#load();
    return this.#loaded?.files.get(path);
  }

  #load(): Loaded | undefined {
    const files = new Map(this.#read());
    const index = files.get(INDEX);
    // It is at `/` alone, where it gets its headers.
    files.delete(INDEX);
    return index && { index: index.bytes.toString("utf8"), files };
  }

  #read(): (readonly [string, PageFile])[] {
    let entries: ReturnType<typeof list>;
    try {
      entries = list(this.#folder);
    } catch {
      return [];
    }
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        const path = relative(this.#folder, file).split(sep).join("/");
        const type = types[extname(path)] ?? "application/octet-stream";
        const hashed = /-[\da-f]{8,}\.\w+$/.test(path);
        return [path, { type, bytes: readFileSync(file), hashed }] as const;
      });
  }
}

function list(folder: string) {
  return readdirSync(folder, { recursive: true, withFileTypes: true });
}
