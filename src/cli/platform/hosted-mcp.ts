import { createLogger } from "../../core/logger.ts";
import { MCP_PATH } from "../../mcp/path.ts";
import type { Extension } from "../../platform/server.ts";

/** The MCP server of a local platform, over its API. Loaded with the first request: the SDK is large. */
export function hostedMcp(): Extension {
  return {
    path: MCP_PATH,
    open: async (baseUrl) => {
      const { McpHttp } = await import("../../mcp/http.ts");
      const logger = createLogger({ level: "error", secrets: [], destination: process.stderr });
      const mcp = new McpHttp({ baseUrl, logger });
      return { fetch: mcp.fetch, close: () => mcp.close() };
    },
  };
}
