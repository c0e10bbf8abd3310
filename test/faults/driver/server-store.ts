import { PostgresServer } from "../../support/postgres/server.ts";
import { TcpProxy } from "../../support/tcp-proxy.ts";
import { PostgresStore } from "./postgres-store.ts";

/** An inbox on its own PostgreSQL server. The bots connect through a proxy that can fail. */
export class ServerStore extends PostgresStore {
  readonly server: PostgresServer;
  readonly proxy: TcpProxy;

  private constructor(server: PostgresServer, proxy: TcpProxy, folder: string) {
    const bots = `postgres://bot@127.0.0.1:${proxy.port}/postgres`;
    super({ own: server.url(), bots }, folder);
    this.server = server;
    this.proxy = proxy;
  }

  static async start(folder: string): Promise<ServerStore> {
    const server = await PostgresServer.start("18");
    return new ServerStore(server, await TcpProxy.open(server.port), folder);
  }

  override async close(): Promise<void> {
    await super.close();
    this.proxy.close();
    await this.server.stop();
  }
}
