import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { systemClock } from "../../faces/core.ts";
import { type DownloadParts, downloadWith, type Open } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { image } from "../support/images.ts";

export interface ImageServer {
  /** Overrides that redirect a download from any name to this server. */
  readonly parts: DownloadParts;
  /** Downloads from this server under a public name. */
  readonly download: (parts?: Partial<DownloadParts>, signal?: AbortSignal) => Promise<Uint8Array>;
  readonly asked: readonly string[];
  /** Resolves when the client has closed a connection. */
  readonly closed: Promise<void>;
}

export async function imageServer(
  respond?: (response: ServerResponse, path: string, request: IncomingMessage) => void,
): Promise<ImageServer> {
  const png = await image();
  const asked: string[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer((incoming, response) => {
    asked.push(incoming.url ?? "");
    incoming.socket.once("close", () => closed.resolve());
    if (respond === undefined) response.writeHead(200, { "content-type": "image/png" }).end(png);
    else respond(response, incoming.url ?? "", incoming);
  });
  const { port } = await listenUntilEnd(server);
  // Use plain HTTP, because TLS would need a certificate. The address still comes from `lookup`.
  const open: Open = (url, { lookup, headers }, onResponse) =>
    request(
      { host: url.hostname, port, path: url.pathname, headers, agent: false, lookup },
      onResponse,
    );
  const parts: DownloadParts = {
    clock: systemClock,
    open,
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    isAllowed: (address) => address === "127.0.0.1",
  };
  return {
    parts,
    download: (replaced = {}, signal = new AbortController().signal) =>
      downloadWith({ ...parts, ...replaced })("https://images.example/a.png", signal),
    asked,
    closed: closed.promise,
  };
}
