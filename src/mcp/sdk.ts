/**
 * As much of the official SDK as is used here, loaded when an MCP server is asked for and not before. The package
 * holds it bundled into this file (`scripts/pack/packages.ts`): a bot installs none of it.
 */
export { toWebRequest } from "@modelcontextprotocol/node";
export {
  type AuthInfo,
  type CallToolResult,
  createMcpHandler,
  type EventStore,
  hostHeaderValidationResponse,
  isLegacyRequest,
  type JSONRPCMessage,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  originValidationResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ListedTool,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
export { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
