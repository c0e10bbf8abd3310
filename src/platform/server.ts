import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express, type Request as ExpressRequest } from "express";
import { hostCheck, isHostName } from "../core/addresses.ts";
import { dropBody } from "../core/body.ts";
import { ANYTHING, type Kind, STRING, STRINGS } from "../core/kinds.ts";
import { bind } from "../core/listen.ts";
import type { Logger } from "../core/logger.ts";
import { copyFields, inspectFields, type OptionTable } from "../core/option-checks.ts";
import { readRoute } from "../core/request-target.ts";
import { sendWebResponse, toWebRequest } from "../core/web-adapter.ts";
import { ConfigError } from "../errors.ts";
import { PlatformError } from "./error.ts";
import {
  type Answer,
  ConnectionLost,
  completeAnswer,
  errorAnswer,
  toResponse,
} from "./http/answer.ts";
import { cancelBody } from "./http/body.ts";
import { type PlatformOptions, settings } from "./options.ts";
import { createPlatform, type Platform, type PlatformOverrides } from "./platform.ts";

/** In ms. With Node's default of 30 s, a slow request would be cut off long after its timeout. */
const CHECKING_INTERVAL_MS = 1_000;

/** A handler that the platform serves next to its own paths, such as an MCP server. */
export interface Extension {
  /** Exact path, such as `/mcp`. Requests for paths below it are not passed to the extension. */
  readonly path: string;
  /** Called with the platform's origin on the first request. If the call fails, the next request tries again. */
  readonly open: (url: string) => Promise<OpenExtension>;
}

/** An opened extension. */
export interface OpenExtension {
  /** Handles a request to the extension's path. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Called when the platform stops. */
  close(): Promise<void>;
}

/** Options for a local platform on a port. */
export interface ListenOptions extends Omit<PlatformOptions, "url"> {
  /**
   * Listening address. Default 127.0.0.1. The `Host` of a request must be a loopback name, the address at which the
   * request arrived, or a name in `allowHosts`. The control API always requires the control token as well.
   */
  readonly host?: string | undefined;
  /** Additional host names to accept, without scheme and port, such as `platform.test`. Default: none. */
  readonly allowHosts?: readonly string[] | undefined;
  /** Port, 0 to 65535. Default 0, which selects a free port. */
  readonly port?: number | undefined;
  /** Extensions to serve on the same address. Default: none. */
  readonly extensions?: readonly Extension[] | undefined;
}

const EXTENSIONS: Kind = {
  expected: "an array of extensions",
  fits: (value) =>
    Array.isArray(value) &&
    value.every(({ path, open }) => typeof path === "string" && typeof open === "function"),
};

const LISTEN_OPTIONS: OptionTable<Omit<ListenOptions, keyof PlatformOptions>> = {
  host: STRING,
  allowHosts: STRINGS,
  port: ANYTHING,
  extensions: EXTENSIONS,
};

export interface ListenSettings {
  readonly host: string;
  readonly allowHosts: readonly string[];
  readonly port: number;
  readonly extensions: readonly Extension[];
}

/**
 * Starts a local platform on a port: {@link createPlatform} behind Express. A process can have several platforms.
 *
 * @throws {ConfigError} an option or the state file cannot be used
 * @throws {ServiceBotError} INVALID_OPTION, ADDRESS_IN_USE, NODE_TOO_OLD
 */
export async function startPlatform(
  given: ListenOptions = {},
  replaced: PlatformOverrides = {},
): Promise<Platform> {
  const options = copyFields("options", given);
  const { logger } = settings(options);
  const { host, port, allowHosts, extensions } = listenSettings(options);
  const server = createServer({ connectionsCheckingInterval: CHECKING_INTERVAL_MS });
  const remedy = "Is another platform running? Choose another port.";
  const address = await bind(server, host, port, { names: "host, port", remedy });
  const close = () =>
    new Promise<void>((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
      server.closeAllConnections();
    });
  try {
    const url = origin(host, address);
    const platform = createPlatform({ ...options, url }, replaced);
    const opened = new Extensions(extensions, url);
    const now = () => Date.parse(platform.control.clock.view.now);
    server.on("request", appOf({ platform, opened, allowHosts, logger, now }));
    platform.closeWith(close);
    platform.closeWith(() => opened.close());
    logger.info({ url }, "local platform listening");
    return platform;
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws {ConfigError} lists every invalid option, except the platform's own options */
function listenSettings(options: ListenOptions): ListenSettings {
  const { values, problems: wrong } = inspectFields(options, LISTEN_OPTIONS, "");
  const { host = "127.0.0.1", allowHosts = [], port = 0, extensions = [] } = values;
  // Accept an IPv6 address in brackets, as it appears in a URL.
  const chosen = { host: host.replace(/^\[(.*)\]$/, "$1"), allowHosts, port, extensions };
  const problems = [...wrong, ...listenProblems(chosen)];
  if (problems.length > 0) throw new ConfigError(problems);
  return chosen;
}

/** Maximum length of a host name, in characters (RFC 1035, section 2.3.4). */
const MAX_HOST = 253;

function listenProblems({ host, port, allowHosts }: ListenSettings): string[] {
  const problems: string[] = [];
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    problems.push("port: must be a whole number from 0 to 65535");
  }
  if (host === "" || host.length > MAX_HOST)
    problems.push("host: must be an address or host name of this machine");
  if (!allowHosts.every(isHostName)) {
    problems.push(
      "allowHosts: must be host names without a scheme, port or wildcard, such as platform.test",
    );
  }
  return problems;
}

interface AppOptions {
  readonly platform: Pick<Platform, "respond">;
  readonly opened: Extensions;
  readonly allowHosts: readonly string[];
  readonly logger: Logger;
  /** Returns the platform's time, in ms since 1970. */
  readonly now: () => number;
}

export function appOf({ platform, opened, allowHosts, logger, now }: AppOptions): Express {
  const isOurs = hostCheck(allowHosts);
  const serve = async (request: ExpressRequest, response: ServerResponse): Promise<void> => {
    if (!isOurs(request)) throw new PlatformError(403, "FORBIDDEN", UNKNOWN_HOST);
    const { method } = request;
    if (/^(TRACE|TRACK|CONNECT)$/i.test(method)) {
      throw new PlatformError(405, "METHOD_NOT_ALLOWED", `The path does not support ${method}.`);
    }
    const extension = opened.find(readRoute(request.url).path);
    if (extension === undefined) return await servePlatform(platform, request, response);
    const ended = new AbortController();
    response.once("close", () => ended.abort());
    const { fetch } = await extension();
    await sendWebResponse(response, await fetch(toWebRequest(request, ended.signal)));
  };
  return express()
    .disable("x-powered-by")
    .use((request, response) => {
      serve(request, response)
        .catch(async (error: unknown) => {
          if (error instanceof ConnectionLost) request.socket.destroy();
          else if (response.headersSent) response.destroy();
          else {
            const answer = errorAnswer(error, logger);
            await sendAnswer(response, completeAnswer(answer, request.method, now()));
          }
        })
        .finally(() => dropBody(request));
    });
}

const UNKNOWN_HOST =
  "The local platform does not accept this host name. Start it with --allow-host NAME.";

async function servePlatform(
  platform: Pick<Platform, "respond">,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableEnded) gone.abort();
  });
  const request = toWebRequest(incoming);
  try {
    await sendAnswer(response, await platform.respond(request, gone.signal));
  } finally {
    cancelBody(request);
  }
}

async function sendAnswer(response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers, body } = answer;
  if (body instanceof ReadableStream) return await sendWebResponse(response, toResponse(answer));
  if (!response.destroyed) response.writeHead(status, headers).end(body ?? undefined);
}

/** Opens each extension on its first request. */
export class Extensions {
  readonly #extensions: readonly Extension[];
  readonly #url: string;
  readonly #open = new Map<string, Promise<OpenExtension>>();

  constructor(extensions: readonly Extension[], url: string) {
    this.#extensions = extensions;
    this.#url = url;
  }

  find(path: string): (() => Promise<OpenExtension>) | undefined {
    const extension = this.#extensions.find((one) => path === one.path);
    return extension && (() => this.#opened(extension));
  }

  /** Closes every extension that is open or being opened. */
  async close(): Promise<void> {
    const openings = await Promise.allSettled(this.#open.values());
    const open = openings.filter((opening) => opening.status === "fulfilled");
    await Promise.all(open.map(({ value }) => value.close()));
  }

  /** @throws the error from `open`; the next request tries again */
  async #opened(extension: Extension): Promise<OpenExtension> {
    const { path } = extension;
    const opening = this.#open.get(path) ?? extension.open(this.#url);
    this.#open.set(path, opening);
    try {
      return await opening;
    } catch (error) {
      // Another request may already have started a new attempt.
      if (this.#open.get(path) === opening) this.#open.delete(path);
      throw error;
    }
  }
}

/** Returns the server's origin, with a loopback address if the server listens on all interfaces. */
function origin(host: string, { address, port, family }: AddressInfo): string {
  if (host === "localhost") return `http://localhost:${port}`;
  if (address === "0.0.0.0" || address === "127.0.0.1") return `http://127.0.0.1:${port}`;
  if (address === "::" || address === "::1") return `http://[::1]:${port}`;
  return family === "IPv6" ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
