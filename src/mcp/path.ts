/** The path of the MCP server over HTTP, on its own port and on a local platform. */
export const MCP_PATH = "/mcp";
