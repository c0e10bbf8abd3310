export { Access, TokenRefused } from "../../src/mcp/access.ts";
export type { Failure } from "../../src/mcp/failure.ts";
export { type HttpOptions, McpHttp } from "../../src/mcp/http.ts";
export { MCP_PATH } from "../../src/mcp/path.ts";
export { previewsOf } from "../../src/mcp/previews.ts";
export { allTools, callTool, listTools, type Principal } from "../../src/mcp/server.ts";
export { type StdioConnection, serveOverStdio } from "../../src/mcp/stdio.ts";
export { Tokens } from "../../src/mcp/tokens.ts";
