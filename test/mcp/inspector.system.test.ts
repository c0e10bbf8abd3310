import { expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { CLI } from "../faces/files.ts";
import { startWithDownloads } from "../platform/uploads/start.ts";
import { COMPILE_CACHE } from "../support/process.ts";
import { useTool } from "../support/tool.ts";
import { mcpOverHttp } from "./connect.ts";
import { documentedConformance } from "./documented.ts";

/** Timeout in ms. Each test starts several processes, and some of these start others. */
const TIMEOUT_MS = 60_000;

const inspector = useTool("@modelcontextprotocol/inspector");

interface Bot {
  readonly url: string;
  readonly apiKey: string;
}

/** Returns the arguments that select the server. They come last. */
type Target = (bot: Bot) => Promise<readonly string[]>;

const overStdio: Target = async ({ url, apiKey }) => {
  const env = {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  const pairs = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return [...pairs, "--", process.execPath, CLI, "mcp"];
};

const overHttp: Target = async ({ url, apiKey }) => {
  const server = await mcpOverHttp({ baseUrl: url });
  const where = ["--transport", "http", "--server-url", server.url];
  return [...where, "--header", `Authorization: Bearer ${apiKey}`];
};

test("docs/reference/mcp.md names the inspector that is run here", () => {
  expect(documentedConformance().code).toContain(inspector.title);
});

test.each([
  ["stdio", overStdio],
  ["HTTP", overHttp],
] as const)(
  "the official inspector lists all tools over %s without an error in their schemas, calls one, and reports a failed call",
  async (_, target) => {
    const { platform, client } = await world({}, startWithDownloads);
    const where = await target(platform);
    const ask = async (era: "legacy" | "modern", method: string, ...more: readonly string[]) => {
      const how = ["--cli", "--protocol-era", era, "--format", "json", "--method", method];
      return await inspector.run([...how, ...more, ...where]);
    };
    const callArguments = (tool: string, args: object) =>
      ["--tool-name", tool, "--tool-args-json", JSON.stringify(args)] as const;
    const [list, made, failed] = await Promise.all([
      ask("modern", "tools/list", "--strict"),
      ask("legacy", "tools/call", ...callArguments("service_create_post", { text: "inspected" })),
      ask("modern", "tools/call", ...callArguments("service_get_post", { postId: "p_999" })),
    ]);

    expect(list.output).toContain("0 errors");
    expect(list).toMatchObject({ code: 0 });
    expect(JSON.parse(list.stdout).result.tools).toHaveLength(13);

    expect(made).toMatchObject({ code: 0 });
    const { id } = JSON.parse(made.stdout).result.structuredContent;
    expect(await client.posts.get(id)).toMatchObject({ text: "inspected" });

    expect(failed).toMatchObject({ code: 5 });
    const { _meta } = JSON.parse(failed.stdout).result;
    expect(_meta["service-bot/error"]).toMatchObject({ code: "NOT_FOUND" });
  },
  TIMEOUT_MS,
);
