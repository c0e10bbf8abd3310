/**
 * The parts of the official SDK in use, loaded once an MCP server is asked for. The package holds them bundled into
 * this file (`scripts/pack/packages.ts`), so a bot installs none of the SDK.
 */
export {
  type CallToolResult,
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  ProtocolError,
  Server,
  type Tool as ListedTool,
} from "@modelcontextprotocol/server";
export { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
