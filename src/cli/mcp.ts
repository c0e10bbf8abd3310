import { Console } from "node:console";
import { createServer } from "node:http";
import { loadPlatform, loadPlatformAddress } from "../config.ts";
import { isHostName, urlHost } from "../core/addresses.ts";
import { bind } from "../core/listen.ts";
import { allScopes, type Scope } from "../core/platform-contract.ts";
import {
  type Command,
  defineCommand,
  ownCommand,
  UsageError,
  untilSignal,
  wholeNumber,
} from "./command.ts";
import { readDotEnv } from "./environment.ts";
import { errorLogger, print } from "./output.ts";

const MCP_PATH = "/mcp";

export const mcp: Command = defineCommand({
  name: "mcp",
  summary: "Starts the MCP server, which offers the API to an assistant as tools",
  flags: {
    scopes: {
      type: "string",
      value: "LIST",
      help: "offer only the tools for these scopes: read, posts:write, comments:write, dm; separated by commas. Default: the token's scopes, which the server detects with harmless requests",
    },
    http: {
      type: "string",
      value: "PORT",
      help: "serve Streamable HTTP at /mcp on this port instead of stdio; 0 picks a free one. Each request needs Authorization: Bearer API_KEY",
    },
    host: {
      type: "string",
      value: "127.0.0.1",
      help: "with --http: address to listen on",
    },
    "allow-host": {
      type: "string",
      multiple: true,
      value: "NAME",
      help: "with --http: a host name to accept in addition to localhost, such as the proxy's; repeatable",
    },
  },
  notes:
    "The server reads SERVICE_BASE_URL from the environment or from .env. Over stdio, it also reads SERVICE_API_KEY " +
    "there, and prints problems on standard error.",
  extension: {
    path: MCP_PATH,
    open: async (baseUrl) => {
      // Imported on the first request, because the SDK is large.
      const { McpHttp } = await import("../mcp/http.ts");
      const server = new McpHttp({ baseUrl, logger: errorLogger("error") });
      return { fetch: server.fetch, close: () => server.close() };
    },
  },
  run: async ({ flags: given }) => {
    const scopes = scopesOf(given.scopes);
    const port = wholeNumber(given.http, "http", { min: 0, max: 65_535 });
    const host = given.host?.trim();
    const allowHosts = given["allow-host"] ?? [];
    if (port === undefined && (host !== undefined || allowHosts.length > 0)) {
      throw new UsageError("--host and --allow-host need --http PORT.");
    }
    const strange = allowHosts.find((name) => !isHostName(name));
    if (strange !== undefined) {
      throw new UsageError(
        `--allow-host takes a host name without scheme and port, such as mcp.example (got ${JSON.stringify(strange)}).`,
      );
    }
    if (host === "") throw new UsageError("--host takes an address of this machine.");
    readDotEnv();
    return port === undefined
      ? await serveStdio(scopes)
      : await serveHttp({ port, host, allowHosts, scopes });
  },
});

function scopesOf(text: string | undefined): readonly Scope[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(",").map((name) => name.trim());
  const found = allScopes.filter((scope) => names.includes(scope));
  const unknown = names.filter((name) => !allScopes.some((scope) => scope === name));
  if (unknown.length === 0) return found;
  throw new UsageError(
    `--scopes takes a list of ${allScopes.join(",")} (got ${JSON.stringify(unknown.join(","))}).`,
  );
}

async function serveStdio(scopes: readonly Scope[] | undefined): Promise<number> {
  const { baseUrl, apiKey, logLevel } = loadPlatform(process.env);
  // Standard output is reserved for the protocol. Any other line would end the connection.
  globalThis.console = new Console(process.stderr, process.stderr);
  const logger = errorLogger(logLevel);
  const { stdin, stdout } = process;
  // Imported on demand, because the SDK is large and no other command needs it.
  const { serveOverStdio } = await import("../mcp/stdio.ts");
  const connection = serveOverStdio({ baseUrl, apiKey, scopes, logger, stdin, stdout });
  await Promise.race([connection.ended, untilSignal()]);
  await connection.close();
  // An open standard input would keep the process alive.
  stdin.destroy();
  return 0;
}

interface HttpSettings {
  readonly port: number;
  readonly host: string | undefined;
  readonly allowHosts: readonly string[];
  readonly scopes: readonly Scope[] | undefined;
}

async function serveHttp(settings: HttpSettings): Promise<number> {
  const { port, host = "127.0.0.1", allowHosts, scopes } = settings;
  const { baseUrl, logLevel } = loadPlatformAddress(process.env);
  const logger = errorLogger(logLevel);
  const { McpHttp } = await import("../mcp/http.ts");
  const mcp = new McpHttp({ baseUrl, scopes, logger });
  const server = createServer(mcp.listener(MCP_PATH, [host, ...allowHosts]));
  const remedy = `Run \`${ownCommand()} mcp --http ${port < 65_535 ? port + 1 : 0}\`.`;
  const address = await bind(server, host, port, { names: "--host, --http", remedy });
  const stopped = untilSignal();
  print(
    `The MCP server is listening at http://${urlHost(host)}:${address.port}${MCP_PATH} and uses ${baseUrl}`,
  );
  await stopped;
  await mcp.close();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  return 0;
}
