import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";

/** Something that a platform serves beside its own paths, such as an MCP server. */
export interface Extension {
  /** Its path, such as `/mcp`; what is below it stays unknown. */
  readonly path: string;
  /** Called with the platform's origin when the first request comes. */
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

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map(async (opening) => (await opening).close()));
  }

  #opened(extension: Extension, url: string): Promise<OpenExtension> {
    const open = this.#open.get(extension.path) ?? extension.open(url);
    this.#open.set(extension.path, open);
    return open;
  }
}
