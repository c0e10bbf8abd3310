export { mcp } from "../../src/cli/mcp.ts";
export { Access, TokenRefused, Tokens } from "../../src/mcp/access.ts";
export type { Failure } from "../../src/mcp/failure.ts";
export { type HttpOptions, McpHttp } from "../../src/mcp/http.ts";
export { previewsOf } from "../../src/mcp/previews.ts";
export { callTool, listTools, type Principal } from "../../src/mcp/server.ts";
export { type StdioConnection, serveOverStdio } from "../../src/mcp/stdio.ts";
export { allTools } from "../../src/mcp/tools.ts";
