import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type Express, type Router } from "express";
import { bind } from "../../core/bind.ts";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { notFound } from "../error.ts";
import { errorAnswer, send } from "./answer.ts";
import { loopbackHostOnly } from "./guard.ts";
import { welcome } from "./welcome.ts";

export interface AppOptions {
  /** By the path under which they are mounted. */
  readonly routers: Readonly<Record<string, Router>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One Express app for everything; errors of every kind have the same shape. */
export function createApp({ routers, clock, logger }: AppOptions): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  // A path that is taken here in another spelling would be refused elsewhere.
  app.enable("case sensitive routing");
  app.use(loopbackHostOnly);
  app.use((_request, response, next) => {
    // Bots measure the age of events on the platform's clock, which is this one.
    response.set("Date", new Date(clock.now()).toUTCString());
    response.set("X-Content-Type-Options", "nosniff");
    next();
  });
  app.get("/", welcome);
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
  const server = createServer(app);
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

/** Written with a loopback name, since other names are refused. */
function origin(host: string, { port, family }: AddressInfo): string {
  if (host === "localhost") return `http://localhost:${port}`;
  return family === "IPv6" ? `http://[::1]:${port}` : `http://127.0.0.1:${port}`;
}
