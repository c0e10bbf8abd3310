import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { bind } from "../../core/bind.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { notFound } from "../error.ts";
import { errorAnswer, send } from "./answer.ts";
import { knownHostsOnly } from "./hosts.ts";

export interface AppOptions {
  /** By the path under which they are mounted. */
  readonly routers: Readonly<Record<string, RequestHandler | RequestHandler[]>>;
  /** Names that it answers to besides its own. */
  readonly allowHosts: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One Express app for everything; errors of every kind have the same shape. */
export function createApp({ routers, allowHosts, clock, logger }: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // A path that is taken here in another spelling would be refused elsewhere.
  app.enable("case sensitive routing");
  app.use(knownHostsOnly(allowHosts));
  app.use((_request, response, next) => {
    // Bots measure the age of events on the platform's clock, which is this one.
    response.set("Date", new Date(clock.now()).toUTCString());
    response.set("X-Content-Type-Options", "nosniff");
    next();
  });
  for (const [path, router] of Object.entries(routers)) app.use(path, router);
  app.use(() => {
    throw notFound("page");
  });
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    send(response, errorAnswer(error, logger));
  };
  app.use(onError);
  return app;
}

/** In ms. How often slow senders are looked for. Node's own 30 s would let a slow head stay four times too long. */
const CHECKING_INTERVAL_MS = 1_000;

export interface Listening {
  /** The origin under which this machine reaches the server. */
  readonly url: string;
  /** Cuts every connection. Resolves when none is left. */
  close(): Promise<void>;
}

/**
 * @throws {ServiceBotError} ADDRESS_IN_USE
 * @throws {ConfigError} the address cannot be bound
 */
export async function listen(app: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer({ connectionsCheckingInterval: CHECKING_INTERVAL_MS }, app);
  const remedy = "Is another platform running? Choose another port.";
  const address = await bind(server, host, port, { names: "host, port", remedy });
  return {
    url: origin(host, address),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** Written with a loopback name where it listens there, too. */
function origin(host: string, { address, port, family }: AddressInfo): string {
  if (host === "localhost") return `http://localhost:${port}`;
  if (address === "0.0.0.0" || address === "127.0.0.1") return `http://127.0.0.1:${port}`;
  if (address === "::" || address === "::1") return `http://[::1]:${port}`;
  return family === "IPv6" ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}
