import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type ErrorRequestHandler, type Express, type Router } from "express";
import type { Clock } from "../../core/clock.ts";
import type { Logger } from "../../core/logger.ts";
import { ConfigError, hasCode, messageOf, ServiceBotError } from "../../errors.ts";
import { notFound } from "../error.ts";
import { errorAnswer, send } from "./answer.ts";
import { loopbackHostOnly } from "./guard.ts";

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
  app.use(loopbackHostOnly);
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
  try {
    await bind(server, host, port);
  } catch (error) {
    if (!hasCode(error, "EADDRINUSE")) {
      throw new ConfigError([`host, port: cannot listen on ${host}:${port}: ${messageOf(error)}`]);
    }
    throw new ServiceBotError(
      "ADDRESS_IN_USE",
      `Port ${port} on ${host} is taken. Is another platform running? Choose another port.`,
      { cause: error },
    );
  }
  return {
    url: origin(host, server.address() as AddressInfo),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Written with a loopback name, since other names are refused. */
function origin(host: string, { port, family }: AddressInfo): string {
  if (host === "localhost") return `http://localhost:${port}`;
  return family === "IPv6" ? `http://[::1]:${port}` : `http://127.0.0.1:${port}`;
}
