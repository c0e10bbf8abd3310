/**
 * The parts of the official SDK in use, imported on demand. The package bundles them into this file
 * (`scripts/pack/packages.ts`), so that a bot does not install the SDK.
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
