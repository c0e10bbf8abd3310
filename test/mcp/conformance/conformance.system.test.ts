import { expect, test } from "vitest";
import { runPlatform } from "../../platform/support/platform.ts";
import { useTool } from "../../support/tool.ts";
import { mcpOverHttp } from "../connect.ts";
import { documentedConformance } from "../documented.ts";
import { mcp } from "../face.ts";
import { fitting, notFitting, notFittingChecks, revisions } from "./scenarios.ts";
import { runSuite, scenariosOf } from "./suite.ts";
import { withToken } from "./with-token.ts";

const TIMEOUT_MS = 60_000;

const suite = useTool("@modelcontextprotocol/conformance");

interface Server {
  readonly start: () => Promise<{ readonly url: string; readonly apiKey: string }>;
  readonly revisions: readonly string[];
}

const servers: Readonly<Record<string, Server>> = {
  "service-bot mcp --http": {
    start: async () => {
      const { url, apiKey } = await runPlatform();
      return { url: (await mcpOverHttp({ baseUrl: url })).url, apiKey };
    },
    revisions,
  },
  // Both entries use the same server code, so testing the newest revision of each handshake is enough.
  "the local platform": {
    start: async () => {
      const { url, apiKey } = await runPlatform({ extensions: mcp.extension && [mcp.extension] });
      return { url: `${url}/mcp`, apiKey };
    },
    revisions: revisions.slice(-2),
  },
};

let listing: ReturnType<typeof scenariosOf> | undefined;

/** Starts the suite's process only on the first call. */
function listScenarios(): ReturnType<typeof scenariosOf> {
  listing ??= scenariosOf(suite);
  return listing;
}

test("docs/reference/mcp.md names the suite that is run here, and the scenarios that fit", () => {
  const { code, numbers } = documentedConformance();
  expect(code).toContain(suite.title);
  expect(code.filter((name) => !name.startsWith("@")).sort()).toEqual([...fitting].sort());
  expect(new Set(numbers)).toEqual(new Set([fitting.length, fitting.length + notFitting.length]));
});

test("every scenario of the suite is listed as fitting or not, and every revision is run", async () => {
  const scenarios = await listScenarios();
  expect([...scenarios.keys()].sort()).toEqual([...fitting, ...notFitting].sort());
  const tags = new Set([...scenarios.values()].flat());
  expect([...tags].sort()).toEqual([...revisions, "extension"]);
});

test.each(Object.entries(servers))(
  "every scenario that fits passes with %s, and no message of any is against the schema",
  async (_, { start, revisions }) => {
    const scenarios = await listScenarios();
    const { url, apiKey } = await start();
    const reachable = await withToken(url, apiKey);
    const check = async (revision: string) => {
      const found = await runSuite(suite, reachable, revision);
      const meant = [...scenarios].filter(([, tags]) => tags.includes(revision));
      expect([...found.keys()].sort()).toEqual(meant.map(([name]) => name).sort());
      for (const [name, problems] of found) {
        const isMeant = (id: string) => isFitting(name) || id.startsWith("wire-schema");
        const noticed = Object.entries(problems).filter(([id]) => isMeant(id));
        const excused = Object.keys(notFittingChecks[name] ?? {});
        expect(Object.fromEntries(noticed), `${revision} ${name}`).toEqual(
          Object.fromEntries(excused.map((id) => [id, expect.any(String)])),
        );
      }
    };
    // The suite spends most of its time waiting, so run the revisions concurrently.
    await Promise.all(revisions.map(check));
  },
  TIMEOUT_MS,
);

function isFitting(name: string): boolean {
  return fitting.some((each) => each === name);
}
