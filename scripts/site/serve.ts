import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export interface ServedSite {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves a built site on loopback, below its base path, as GitHub Pages does. */
export async function serveSite(folder: string, base: string): Promise<ServedSite> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site.invalid");
    const path = decodeURI(pathname);
    const file = path.endsWith("/") ? `${path}index.html` : path;
    try {
      if (!path.startsWith(base)) throw new Error("outside the site");
      const content = await readFile(join(folder, file.slice(base.length)));
      response.setHeader("content-type", TYPES[extname(file)] ?? "application/octet-stream");
      response.end(content);
    } catch {
      response.statusCode = 404;
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(await readFile(join(folder, "404.html")));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${base}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
