import type { RequestListener } from "node:http";
import type { NodeListener } from "./node.ts";

/** Where MCP is served. */
export const MCP_PATH = "/mcp";

/** Answers at {@link MCP_PATH} alone. */
export function onItsPath(listener: NodeListener): RequestListener {
  return (request, response) => {
    const path = (request.url ?? "").split("?", 1)[0];
    if (path === MCP_PATH) {
      void listener(request, response);
      return;
    }
    const error = { code: "NOT_FOUND", message: `MCP is at ${MCP_PATH}.` };
    response.writeHead(404, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ error }));
  };
}
