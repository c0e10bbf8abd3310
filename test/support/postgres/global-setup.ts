import { once } from "node:events";
import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { PostgresServer } from "./server.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the broker that starts servers. `GET /<version>` returns the URL of a server of that version. */
    readonly postgres: string;
  }
}

/** Starts at most one server per version for the whole test run, when a test first requests that version. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const servers = new Map<string, Promise<PostgresServer>>();
  const broker = createServer((request, response) => {
    const version = request.url?.slice(1) ?? "";
    const server = servers.get(version) ?? PostgresServer.start(version);
    servers.set(version, server);
    server.then(
      (started) => response.end(started.url()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  broker.listen(0, "127.0.0.1");
  await once(broker, "listening");
  const address = broker.address();
  const port = typeof address === "object" ? address?.port : undefined;
  project.provide("postgres", `http://127.0.0.1:${port}`);
  return async () => {
    broker.closeAllConnections();
    broker.close();
    for (const server of await Promise.allSettled(servers.values())) {
      if (server.status === "fulfilled") await server.value.stop();
    }
  };
}
