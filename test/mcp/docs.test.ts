import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { allTools, mcp } from "./face.ts";

const page = readFileSync(new URL("../../docs/reference/mcp.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
  return [...page.matchAll(fenced)].map(([, code = ""]) => code);
}

test("the table has every tool, with its scopes, and whether it writes", () => {
  const rows = [...page.matchAll(/^\| `(service_\w+)` \| `[^`]+` \| (.*?) \| (yes)? ?\|$/gm)];
  const scopes = (names: readonly string[]) =>
    names.length === 3 ? "any but `read`" : names.map((name) => `\`${name}\``).join(" or ");
  expect(rows.map(([, name, needed, writes]) => [name, needed, writes === "yes"])).toEqual(
    allTools.map((tool) => [tool.name, scopes(tool.scopes), tool.writes ?? false]),
  );
});

function servers(): Record<string, unknown>[] {
  return blocks("json").map((code) => {
    const configuration = JSON.parse(code);
    const named = configuration.mcpServers ?? configuration.servers;
    return Object.values<Record<string, unknown>>(named)[0] ?? {};
  });
}

const [toml = "", tomlOverHttp = ""] = blocks("toml");

test("each configuration for stdio can be read, and starts `service-bot mcp` with the two variables", () => {
  const started = servers().filter((server) => !("url" in server));
  expect(started.length).toBeGreaterThan(1);
  for (const server of started) {
    expect(server).toMatchObject({
      command: "npx",
      args: ["-y", "service-bot", "mcp"],
      env: { SERVICE_BASE_URL: expect.any(String), SERVICE_API_KEY: expect.any(String) },
    });
  }
  expect(toml).toContain('command = "npx"\nargs = ["-y", "service-bot", "mcp"]\n');
});

test("each configuration for HTTP can be read, and sends the token to the local platform", () => {
  const url = "http://127.0.0.1:4400/mcp";
  const called = servers().filter((server) => "url" in server);
  expect(called.length).toBeGreaterThan(1);
  for (const server of called) {
    expect(server).not.toHaveProperty("command");
    expect(server).toMatchObject({
      url,
      headers: { Authorization: expect.stringMatching(/^Bearer \S+$/) },
    });
  }
  expect(tomlOverHttp).toContain(`url = "${url}"\nbearer_token_env_var = "SERVICE_API_KEY"\n`);
});

test("each input in a configuration has a prompt", () => {
  const codes = blocks("json").filter((code) => code.includes("${input:"));
  expect(codes).toHaveLength(2);
  for (const code of codes) {
    const named = [...code.matchAll(/\$\{input:([^}]+)\}/g)].map(([, id]) => id);
    expect(JSON.parse(code).inputs.map(({ id }: { id: string }) => id)).toEqual(named);
  }
});

test("every flag has its place", () => {
  const flags = [...`${mcp.usage}${mcp.details}`.matchAll(/--[a-z-]+/g)].map(([flag]) => flag);
  for (const flag of new Set(flags)) expect(page, flag).toContain(flag);
});
