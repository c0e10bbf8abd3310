import { createLogger } from "../../core/logger.ts";
import { MCP_PATH } from "../../mcp/http/path.ts";
import type { Extension } from "../../platform/server.ts";

/** The MCP server of a local platform, over its API. Loaded with the first request: the SDK is large. */
export function hostedMcp(): Extension {
  return {
    path: MCP_PATH,
    open: async (baseUrl) => {
      const { McpHttp } = await import("../../mcp/http/handler.ts");
      const logger = createLogger({ level: "error", secrets: [], destination: process.stderr });
      // The platform has looked at the host of a request before.
      const mcp = new McpHttp({ baseUrl, logger, anyHost: true });
      return { handle: mcp.listener, close: () => mcp.close() };
    },
  };
}
