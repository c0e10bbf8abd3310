import { type Request, type Response, Router } from "express";
import { notFound } from "../../error.ts";
import type { PageFiles } from "./files.ts";
import { welcome } from "./welcome.ts";

export interface PageOptions {
  readonly files: PageFiles;
}

/** Nothing but our own files runs there, nothing frames it, and no other page holds a handle to it. */
const headers = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const NOT_BUILT = `The page of the local platform is not built here. Make it with

  npm run build

and reload. Everything else works without it.

`;

/** The page at `/`, and its files under `/portal/`. */
export function pageRouter({ files }: PageOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  router.get("/", (request, response) => {
    response.set({ ...headers, "Cache-Control": "no-store", Vary: "Accept" });
    // What takes anything, such as curl, gets the text.
    if (request.accepts("text/plain", "text/html") === "text/html") {
      sendPage(request, response, files);
    } else {
      response.type("text/plain").send(welcome(request));
    }
  });
  router.get("/portal/*path", (request, response) => {
    const { path } = request.params;
    const file = files.find(Array.isArray(path) ? path.join("/") : "");
    if (file === undefined) throw notFound("file");
    const { type, bytes, hashed } = file;
    const cache = hashed ? "public, max-age=31536000, immutable" : "no-cache";
    response.set({ ...headers, "Cache-Control": cache, "Content-Type": type }).send(bytes);
  });
  return router;
}

/** Sends the page without the control token, because a proxy may pass the page on to other machines. */
function sendPage(request: Request, response: Response, files: PageFiles): void {
  const index = files.index();
  if (index === undefined) {
    response
      .status(503)
      .type("text/plain")
      .send(`${NOT_BUILT}${welcome(request)}`);
    return;
  }
  response.type("text/html").send(index);
}
