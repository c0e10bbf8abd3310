/**
 * As much of the official SDK as is used here, loaded when an MCP server is asked for and not before. The package
 * holds it bundled into this file (`scripts/pack/packages.ts`): a bot installs none of it.
 */
export {
  type AuthInfo,
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ListedTool,
} from "@modelcontextprotocol/server";
export { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
