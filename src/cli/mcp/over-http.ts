import { createServer } from "node:http";
import { loadPlatformAddress } from "../../config.ts";
import { bind } from "../../core/bind.ts";
import { createLogger } from "../../core/logger.ts";
import type { Scope } from "../../core/scope.ts";
import { urlHost } from "../../core/url-host.ts";
import { McpHttp } from "../../mcp/http.ts";
import { MCP_PATH } from "../../mcp/path.ts";
import { print } from "../output.ts";
import { ownCommand } from "../own-command.ts";
import { untilSignal } from "../until-signal.ts";

interface HttpSettings {
  readonly port: number;
  readonly host: string | undefined;
  readonly allowHosts: readonly string[];
  readonly scopes: readonly Scope[] | undefined;
}

/** Serves everybody who has a token, until a signal. */
export async function overHttp(settings: HttpSettings): Promise<number> {
  const { port, host = "127.0.0.1", allowHosts, scopes } = settings;
  const { baseUrl, logLevel } = loadPlatformAddress(process.env);
  const logger = createLogger({ level: logLevel, secrets: [], destination: process.stderr });
  const mcp = new McpHttp({ baseUrl, scopes, logger });
  const server = createServer(mcp.listener([host, ...allowHosts]));
  const remedy = `Choose another: ${ownCommand()} mcp --http ${port < 65_535 ? port + 1 : 0}`;
  const address = await bind(server, host, port, { names: "--host, --http", remedy });
  const stopped = untilSignal();
  print(
    `MCP server listening at http://${urlHost(host)}:${address.port}${MCP_PATH} for ${baseUrl}`,
  );
  await stopped;
  await mcp.close();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return 0;
}
