import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { notFound } from "./error.ts";
import type { Answer } from "./http/answer.ts";
import type { Incoming } from "./http/routes.ts";

/** Output folder of the portal's build (`npm run build`). */
export const PORTAL_FILES: URL = new URL("./portal/static/", import.meta.url);

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

/**
 * Prevents other scripts from running in the portal, and other pages from framing it or keeping a reference to its
 * window.
 */
const guards = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

const NOT_BUILT = `The portal is not built. Run

  npm run build

and reload the page. The API works without the portal.

`;

export class Page {
  readonly #folder: string;
  /** All files by path. Requests are looked up here, so a request's path never reaches the file system. */
  #files: ReadonlyMap<string, Buffer> | undefined;

  constructor(folder: URL) {
    this.#folder = fileURLToPath(folder);
  }

  answer({ request, method, path, url }: Incoming): Answer {
    const isRead = method === "GET" || method === "HEAD";
    if (isRead && path === "/") return this.#index(request, url);
    const [, encoded] = /^\/portal\/(.+)$/.exec(path) ?? [];
    if (isRead && encoded !== undefined) return this.#file(decodeURIComponent(encoded));
    throw notFound("page");
  }

  /** Serves the page without the control token, because a proxy may expose the page to other machines. */
  #index({ headers }: Request, { origin }: URL): Answer {
    const given = { ...guards, "cache-control": "no-store", vary: "Accept" };
    const plain = { ...given, "content-type": "text/plain; charset=utf-8" };
    // Send plain text to programs that accept any type, such as curl.
    const wantsPage = /\btext\/html\b/i.test(headers.get("accept") ?? "");
    if (!wantsPage) return { status: 200, headers: plain, body: welcome(origin) };
    this.#files = readAll(this.#folder);
    const index = this.#files.get(INDEX);
    if (index === undefined) {
      return { status: 503, headers: plain, body: `${NOT_BUILT}${welcome(origin)}` };
    }
    const html = { ...given, "content-type": "text/html; charset=utf-8" };
    return { status: 200, headers: html, body: index };
  }

  #file(path: string): Answer {
    this.#files ??= readAll(this.#folder);
    const bytes = path === INDEX ? undefined : this.#files.get(path);
    if (bytes === undefined) throw notFound("file");
    // A file with a content hash in its name never changes.
    const hashed = /-[\da-f]{8,}\.\w+$/.test(path);
    const headers = {
      ...guards,
      "cache-control": hashed ? "public, max-age=31536000, immutable" : "no-cache",
      "content-type": types[extname(path)] ?? "application/octet-stream",
    };
    return { status: 200, headers, body: bytes };
  }
}

function readAll(folder: string): ReadonlyMap<string, Buffer> {
  const files = filesIn(folder).map((file) => {
    return [relative(folder, file).split(sep).join("/"), readFileSync(file)] as const;
  });
  return new Map(files);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}

/** Describes the platform to programs, and to browsers if the portal is not built. */
function welcome(origin: string): string {
  return `service-bot local platform

API          ${origin}/api/v1
control API  ${origin}/control/v1
portal       ${origin}/

Send the bot a message as a user:

  npx service-bot trigger dm.message --from ada --text hello --wait --platform ${origin}
  npx service-bot trigger mention --from ben --wait --platform ${origin}

Read the timeline and the state with the control token, which the platform printed on startup:

  curl -H "X-Control-Token: $TOKEN" ${origin}/control/v1/timeline
  curl -H "X-Control-Token: $TOKEN" ${origin}/control/v1/state
`;
}
