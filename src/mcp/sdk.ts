/**
 * The used parts of the official SDK, loaded on demand. `scripts/pack/packages.ts` bundles them, so a bot does not
 * install the SDK.
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
