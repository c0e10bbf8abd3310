import type { Readable, Writable } from "node:stream";
import { Client } from "../client/index.ts";
import { probeScopes } from "../client/scopes.ts";
import type { Fetch } from "../client/transport.ts";
import { LineLimit } from "../core/line-limit.ts";
import type { Logger } from "../core/logger.ts";
import type { Scope } from "../core/platform-contract.ts";
import { tryRead } from "../errors.ts";
import { Access } from "./access.ts";
import { StdioServerTransport, serveStdio } from "./sdk.ts";
import { createMcpServer } from "./server.ts";

/**
 * Maximum size of one message, in bytes. A longer message gets an error. Leaves room for an oversized image, which then
 * fails with TOO_LARGE.
 */
const MAX_MESSAGE_BYTES = 20 * 1024 * 1024;

export interface StdioOptions {
  /** The platform's origin, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Permitted scopes. Default: the token's probed scopes. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  readonly logger: Logger;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

export interface StdioConnection {
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client over standard input and output. Nothing else may write to standard output. */
export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { baseUrl, apiKey, scopes, fetch = globalThis.fetch, logger, stdin, stdout } = options;
  const access = new Access({ scopes });
  const closing = new AbortController();
  const { signal } = closing;
  const principal = {
    baseUrl,
    access,
    logger,
    fetch,
    client: new Client({ baseUrl, apiKey, fetch: options.fetch }),
    probe: () => probeScopes({ baseUrl, apiKey, signal, fetch }),
  };
  const onLong = (beginning: Buffer, end: Buffer) => {
    logger.warn({ maxBytes: MAX_MESSAGE_BYTES }, "message on standard input is too long");
    stdout.write(`${JSON.stringify(tooLong(idIn(beginning, end)))}\n`);
  };
  const lines = stdin.pipe(new LineLimit({ max: MAX_MESSAGE_BYTES, onLong }));
  const transport = new StdioServerTransport(lines, stdout, { maxBufferSize: Infinity });
  const handle = serveStdio(() => createMcpServer(principal), {
    transport,
    onerror: (error) => logger.warn({ err: error }, "malformed message on standard input"),
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
    for (const event of ["close", "error"]) stdout.once(event, () => resolve());
    // An error closes only the transport. Without this, the client would wait forever.
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
  });
  const close = async () => {
    closing.abort();
    await handle.close();
  };
  return { ended, close };
}

const INVALID_REQUEST = -32_600;

function tooLong(id: unknown): object {
  const message = `The message exceeds ${MAX_MESSAGE_BYTES} bytes.`;
  return { jsonrpc: "2.0", error: { code: INVALID_REQUEST, message }, id };
}

const ID_AT_THE_BEGINNING = /^\{(?:"jsonrpc": ?"2\.0", ?)?"id": ?("[^"\\]{1,100}"|\d{1,15}),/;

const ID_NAME = '"id":';

/** Returns the id of a message that is too long to parse, or `null`. Clients write it first or last. */
function idIn(beginning: Buffer, end: Buffer): unknown {
  const [, first = "null"] = ID_AT_THE_BEGINNING.exec(beginning.toString()) ?? [];
  const last = end.toString().trimEnd();
  const at = last.lastIndexOf(ID_NAME);
  const id = at === -1 ? first : last.slice(at + ID_NAME.length, -1);
  const value = tryRead(() => JSON.parse(id)) ?? tryRead(() => JSON.parse(first));
  return typeof value === "string" || typeof value === "number" ? value : null;
}
