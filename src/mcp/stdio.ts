import type { Readable, Writable } from "node:stream";
import { Client } from "../client/client.ts";
import type { Logger } from "../core/logger.ts";
import type { Scope } from "../core/scope.ts";
import { Access } from "./access.ts";
import { MAX_STDIO_MESSAGE_BYTES } from "./limits.ts";
import { tellChanges } from "./notify.ts";
import { StdioServerTransport, serveStdio } from "./sdk.ts";
import { buildServer, type Principal } from "./server.ts";

export interface StdioOptions {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The scopes of the token; found out where they are not given. */
  readonly scopes?: readonly Scope[] | undefined;
  readonly logger: Logger;
  readonly stdin: Readable;
  readonly stdout: Writable;
}

/** A connection over standard input and output. */
export interface StdioConnection {
  /** Resolves when whoever has started this program has closed the connection. */
  readonly ended: Promise<void>;
  /** Ends it: what is under way is given up. */
  close(): Promise<void>;
}

/** Serves one client over standard input and output; nothing but the protocol is written there. */
export function serveOverStdio(options: StdioOptions): StdioConnection {
  const { baseUrl, apiKey, scopes, logger, stdin, stdout } = options;
  const client = new Client({ baseUrl, apiKey });
  const access = new Access({ given: scopes });
  const closing = new AbortController();
  const principal: Principal = {
    ...{ baseUrl, access, logger },
    announcesChanges: true,
    tokenOf: () => apiKey,
    clientOf: () => client,
    closing: closing.signal,
  };
  const transport = new StdioServerTransport(stdin, stdout, {
    maxBufferSize: MAX_STDIO_MESSAGE_BYTES,
  });
  const handle = serveStdio(() => tellChanges(buildServer(principal), access), {
    transport,
    onerror: (error) => logger.warn({ err: error }, "the connection has a problem"),
  });
  const ended = new Promise<void>((resolve) => {
    for (const event of ["end", "close", "error"]) stdin.once(event, () => resolve());
    // Nobody reads any more.
    for (const event of ["close", "error"]) stdout.once(event, () => resolve());
    // It closes by itself when a message is too long: nobody would be listening then, and the client wait for ever.
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
