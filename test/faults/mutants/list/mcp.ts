import { type Mutant, mutantsOf } from "../mutant.ts";

const HTTP = ["test/mcp/http.test.ts"];
const PAGES = ["test/mcp/pages.test.ts"];
const PREVIEWS = ["test/mcp/previews.test.ts"];
const SCOPES = ["test/mcp/scopes.test.ts"];
const RECENT = ["test/mcp/recent-messages.test.ts"];

/** What an assistant may do and see, and what of others it must not. */
export const mcpMutants: readonly Mutant[] = [
  ...mutantsOf("src/mcp/http/sessions.ts", HTTP, [
    {
      name: "MCP: a session belongs to the token that began it",
      find: "session === undefined || session.owner !== auth.clientId",
      replace: "session === undefined",
    },
    {
      name: "MCP: a session that nobody uses ends",
      find: "streams === 0 && now - usedAt >= IDLE_MS",
      replace: "false",
    },
    {
      name: "MCP: a session lives while its client holds a stream",
      find: "streams === 0 && now",
      replace: "now",
    },
    {
      name: "MCP: one token has so many sessions and no more",
      find: "own.length >= MOST_OF_ONE",
      replace: "false",
    },
    {
      name: "MCP: a stream that broke off can be resumed",
      find: "      eventStore: new RecentMessages(),\n",
      replace: "",
    },
  ]),
  ...mutantsOf("src/mcp/http/admission.ts", HTTP, [
    {
      name: "MCP: requests for other hosts are refused",
      find: "!this.#options.isOurs(request)",
      replace: "false",
    },
    {
      name: "MCP: other web pages are refused",
      find: "!isOwnPage(request)",
      replace: "false",
    },
    {
      name: "MCP: a token that the platform does not know is refused",
      find: 'case "refused":\n        return',
      replace: 'case "refused":\n        if (false) return',
    },
  ]),
  ...mutantsOf("src/mcp/http/sessions.ts", HTTP, [
    {
      name: "MCP: the stream of a cancelled call ends",
      find: "      endStreamOfCancelled(transport, message);\n",
      replace: "",
    },
    {
      name: "MCP: a client that is gone holds no stream",
      find: " || request.signal.aborted",
      replace: "",
    },
  ]),
  ...mutantsOf("src/mcp/http/node.ts", HTTP, [
    {
      name: "MCP: that a stream is open is known at once",
      find: "  response.flushHeaders();\n",
      replace: "",
    },
  ]),
  ...mutantsOf("src/mcp/limits.ts", HTTP, [
    {
      name: "MCP: a message that is too long is refused",
      find: "20 * 1024 * 1024",
      replace: "40 * 1024 * 1024",
    },
  ]),
  ...mutantsOf("src/mcp/http/event-store.ts", RECENT, [
    {
      name: "MCP: the messages of one stream are not given to another",
      find: 'stream === last.stream && "jsonrpc"',
      replace: '"jsonrpc"',
    },
  ]),
  ...mutantsOf("src/mcp/tools/page.ts", PAGES, [
    {
      name: "MCP: a page that would be too long is read again with fewer items",
      find: "    const shorter = await read(most);",
      replace: "    const shorter = page;",
    },
  ]),
  ...mutantsOf("src/mcp/tools/events.ts", PAGES, [
    {
      name: "MCP: the cursor of a page of events that was cut is behind the last that is there",
      find: "isCut ? last.id : page.cursor",
      replace: "page.cursor",
    },
  ]),
  ...mutantsOf("src/mcp/previews.ts", PREVIEWS, [
    {
      name: "MCP: previews come from the platform or the public internet",
      find: 'url.protocol === "https:" && isPublicHost(url.hostname)',
      replace: "true",
    },
    {
      name: "MCP: a preview leads nowhere else",
      find: 'redirect: "error"',
      replace: 'redirect: "follow"',
    },
  ]),
  ...mutantsOf("src/mcp/access.ts", SCOPES, [
    {
      name: "MCP: the client is told when other tools can be used",
      find: "    for (const listener of this.#listeners) listener();\n",
      replace: "",
    },
    {
      name: "MCP: a tool that the token cannot use is not listed",
      find: "return tools.filter((tool) => tool.scopes.some((scope) => scopes.has(scope)));",
      replace: "return scopes.size >= 0 ? tools : [];",
    },
  ]),
];
