import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";

/** Something that a platform serves beside its own paths, such as an MCP server. */
export interface Extension {
  /** Its path, such as `/mcp`; what is below it stays unknown. */
  readonly path: string;
  /** Called with the platform's origin when the first request comes, and again with the next one where it fails. */
  readonly open: (url: string) => Promise<OpenExtension>;
}

/** An extension that is in use. */
export interface OpenExtension {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  close(): Promise<void>;
}

/** The extensions of a platform, each opened once somebody asks for it. */
export class Extensions {
  readonly routers: Readonly<Record<string, RequestHandler>>;
  readonly #open = new Map<string, Promise<OpenExtension>>();

  constructor(extensions: readonly Extension[], origin: { readonly url: string }) {
    const routes = extensions.map((extension): [string, RequestHandler] => [
      extension.path,
      async (request, response, next) => {
        if (request.path !== "/") {
          next();
          return;
        }
        const { handle } = await this.#opened(extension, origin.url);
        await handle(request, response);
      },
    ]);
    this.routers = Object.fromEntries(routes);
  }

  /** Closes what is open, or just being opened; what could not be opened needs no closing. */
  async close(): Promise<void> {
    const openings = await Promise.allSettled(this.#open.values());
    const open = openings.filter((opening) => opening.status === "fulfilled");
    await Promise.all(open.map(({ value }) => value.close()));
  }

  /** @throws what `open` throws; the next request tries again */
  async #opened(extension: Extension, url: string): Promise<OpenExtension> {
    const { path } = extension;
    const opening = this.#open.get(path) ?? extension.open(url);
    this.#open.set(path, opening);
    try {
      return await opening;
    } catch (error) {
      // Of the requests that waited for this one, another may have begun anew already.
      if (this.#open.get(path) === opening) this.#open.delete(path);
      throw error;
    }
  }
}
