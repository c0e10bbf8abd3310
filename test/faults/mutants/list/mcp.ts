import { type Mutant, mutantsOf } from "../mutant.ts";

const HTTP = ["test/mcp/http.system.test.ts"];
const PAGES = ["test/mcp/pages.test.ts"];
const PREVIEWS = ["test/mcp/previews.test.ts"];
const SCOPES = ["test/mcp/scopes.system.test.ts"];
const REGISTRY = ["test/mcp/token-registry.test.ts"];

/** What an assistant may do and see, and what of others it must not. */
export const mcpMutants: readonly Mutant[] = [
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
  ...mutantsOf("src/mcp/http/token-registry.ts", REGISTRY, [
    {
      name: "MCP: an accepted token is checked again",
      find: "      refreshAt: now + REFRESH_AFTER_MS,\n      until: now + TRUSTED_FOR_MS,",
      replace: "      refreshAt: Number.POSITIVE_INFINITY,\n      until: Number.POSITIVE_INFINITY,",
    },
    {
      name: "MCP: an old answer is not trusted while the platform is asked again",
      find: "if (isPast(entry?.until)) await this.#wait(fingerprint);",
      replace: "if (entry === undefined) await this.#wait(fingerprint);",
    },
    {
      name: "MCP: an accepted token is trusted for ten minutes of an outage at most",
      find: "Math.min(accepted.acceptedAt + MAX_UNCONFIRMED_MS, now + TRUSTED_FOR_MS)",
      replace: "now + TRUSTED_FOR_MS",
    },
    {
      name: "MCP: a refused token is remembered",
      find: 'remember(this.#rejected, fingerprint, { answer: "refused", refreshAt: until, until });',
      replace: "this.#rejected.delete(fingerprint);",
    },
    {
      name: "MCP: a revoked token is dropped",
      find: "    this.#accepted.delete(fingerprint);\n",
      replace: "",
    },
    {
      name: "MCP: unfamiliar tokens are looked up sixteen at once",
      find: "this.#unfamiliarLookups >= MAX_LOOKUPS",
      replace: "false",
    },
    {
      name: "MCP: unfamiliar tokens are looked up in vain sixty times a minute",
      find: "BUSY_RETRY_MS : this.#failures.freeInMs(1)",
      replace: "BUSY_RETRY_MS : 0",
    },
    {
      name: "MCP: the requests that wait for look-ups are bounded",
      find: "this.#waiting >= maxWaiting(accepted)",
      replace: "false",
    },
  ]),
  ...mutantsOf("src/mcp/http/call-limiter.ts", HTTP, [
    {
      name: "MCP: the calls of one token are bounded",
      find: "ofToken >= MAX_CALLS_PER_TOKEN",
      replace: "false",
    },
    {
      name: "MCP: the memory of messages is bounded",
      find: "this.#bytes + bytes > MAX_MESSAGE_BYTES_HELD",
      replace: "false",
    },
  ]),
  ...mutantsOf("src/mcp/http/node.ts", HTTP, [
    {
      name: "MCP: a call that ended makes room",
      find: "      permit?.release();\n",
      replace: "",
    },
    {
      name: "MCP: only POST reaches the look-up of the token",
      find: 'request.method === "POST" ? new',
      replace: 'request.method !== "" ? new',
    },
  ]),
  ...mutantsOf("src/mcp/limits.ts", HTTP, [
    {
      name: "MCP: a message that is too long is refused",
      find: "8 * 1024 * 1024",
      replace: "80 * 1024 * 1024",
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
