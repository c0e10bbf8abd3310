import { createLogger } from "../../core/logger.ts";
import { toNodeListener } from "../../core/web-adapter.ts";
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
      const onError = (error: unknown) => logger.error({ err: error }, "a request failed");
      const handle = toNodeListener(mcp.fetch, onError);
      return {
        handle: async (request, response) => void handle(request, response),
        close: () => mcp.close(),
      };
    },
  };
}
