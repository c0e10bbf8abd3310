import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mcp } from "../../src/cli/mcp/mcp.ts";
import { allTools } from "../../src/mcp/tools/all.ts";

const page = readFileSync(new URL("../../docs/mcp.md", import.meta.url), "utf8");

/** The blocks of one language. */
function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...page.matchAll(fenced)].map(([, code = ""]) => code);
}

test("the table has every tool, with its scopes, and whether it writes", () => {
  const rows = [...page.matchAll(/^\| `(service_\w+)` \| `[^`]+` \| (.*?) \| (yes)? ?\|$/gm)];
  const scopes = (names: readonly string[]) =>
    names.length === 3 ? "any but `read`" : names.map((name) => `\`${name}\``).join(" or ");
  expect(rows.map(([, name, needed, writes]) => [name, needed, writes === "yes"])).toEqual(
    allTools.map((tool) => [tool.name, scopes(tool.scopes), tool.writes]),
  );
});

test("each configuration can be read, and starts `service-bot mcp` with the two variables", () => {
  const servers = blocks("json").map(
    (code) => Object.values(JSON.parse(code).mcpServers ?? JSON.parse(code).servers)[0],
  );
  expect(servers.length).toBeGreaterThan(1);
  for (const server of servers) {
    expect(server).toMatchObject({
      command: "npx",
      args: ["-y", "service-bot", "mcp"],
      env: { SERVICE_BASE_URL: expect.any(String), SERVICE_API_KEY: expect.any(String) },
    });
  }
  const [toml = ""] = blocks("toml");
  expect(toml).toContain('command = "npx"\nargs = ["-y", "service-bot", "mcp"]\n');
});

test("every flag has its place", () => {
  const flags = [...`${mcp.usage}${mcp.details}`.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
  for (const flag of new Set(flags)) expect(page, flag).toContain(flag);
});
