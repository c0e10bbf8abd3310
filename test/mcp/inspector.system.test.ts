import { describe, expect, test } from "vitest";
import { world } from "../client/platform.ts";
import { usePeer } from "../peers/peer.ts";
import { COMPILE_CACHE } from "../support/process.ts";
import { MAIN, mcpOverHttp } from "./connect.ts";
import { documentedPeers } from "./documented.ts";

/** Each test waits for several processes, of which some start others. */
const TIMEOUT_MS = 60_000;

const inspector = usePeer("inspector");

interface Bot {
  readonly url: string;
  readonly apiKey: string;
}

/** The arguments that say where the server is; they come last. */
type Target = (bot: Bot) => Promise<readonly string[]>;

const overStdio: Target = async ({ url, apiKey }) => {
  const env = {
    SERVICE_BASE_URL: url,
    SERVICE_API_KEY: apiKey,
    NODE_COMPILE_CACHE: COMPILE_CACHE,
  };
  const pairs = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return [...pairs, "--", process.execPath, MAIN, "mcp"];
};

const overHttp: Target = async ({ url, apiKey }) => {
  const server = await mcpOverHttp({ baseUrl: url });
  const where = ["--transport", "http", "--server-url", server.url];
  return [...where, "--header", `Authorization: Bearer ${apiKey}`];
};

test("docs/mcp.md names the inspector that is run here", () => {
  expect(documentedPeers()).toContain(inspector.title);
});

describe.each([
  ["stdio, 2025", overStdio, "legacy"],
  ["stdio, 2026", overStdio, "modern"],
  ["HTTP, 2025", overHttp, "legacy"],
  ["HTTP, 2026", overHttp, "modern"],
] as const)("the official inspector, in its command-line mode, over %s", (_, target, era) => {
  async function inspecting() {
    const { platform, client } = await world();
    const where = await target(platform);
    const ask = async (method: string, ...more: readonly string[]) => {
      const how = ["--cli", "--protocol-era", era, "--format", "json", "--method", method];
      return await inspector.run([...how, ...more, ...where]);
    };
    const call = async (tool: string, args: object) =>
      await ask("tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args));
    return { client, ask, call };
  }

  test(
    "lists all thirteen tools, and finds no error in their schemas",
    async () => {
      const { ask } = await inspecting();
      const { code, stdout, output } = await ask("tools/list", "--strict");
      expect(output).toContain("0 errors");
      expect(code).toBe(0);
      const { tools }: { tools: readonly { name: string }[] } = JSON.parse(stdout).result;
      expect(tools).toHaveLength(13);
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["service_get_me", "service_create_post"]));
    },
    TIMEOUT_MS,
  );

  test(
    "calls tools that read and write, and tells of one that failed",
    async () => {
      const { client, call } = await inspecting();
      const me = await call("service_get_me", {});
      expect(me).toMatchObject({ code: 0 });
      expect(JSON.parse(me.stdout).result.structuredContent).toMatchObject({ username: "bot" });

      const made = await call("service_create_post", { text: "by the inspector" });
      expect(made).toMatchObject({ code: 0 });
      const { id } = JSON.parse(made.stdout).result.structuredContent;
      expect((await client.feed()).items).toContainEqual(
        expect.objectContaining({ id, text: "by the inspector" }),
      );

      const failed = await call("service_get_post", { postId: "p_999" });
      expect(failed).toMatchObject({ code: 5 });
      expect(JSON.parse(failed.stdout).result.content).toMatchObject([
        { type: "text", text: expect.stringMatching(/^NOT_FOUND: /) },
      ]);
    },
    TIMEOUT_MS,
  );
});
