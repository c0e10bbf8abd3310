import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { hostedMcp } from "../../faces/cli.ts";
import { MCP_PATH } from "../../faces/mcp.ts";
import { usePeer } from "../../peers/peer.ts";
import { runPlatform } from "../../platform/support/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { mcpOverHttp } from "../connect.ts";
import { documentedPeers } from "../documented.ts";
import { fitting, notFitting, notFittingChecks, revisions } from "./scenarios.ts";
import { runSuite, scenariosOf } from "./suite.ts";
import { withToken } from "./with-token.ts";

const PAGE = new URL("../../../docs/mcp.md", import.meta.url);

const TIMEOUT_MS = 60_000;

const suite = usePeer("conformance");

/** Each server, until the test ends, and a token that it takes. */
const servers = {
  "service-bot mcp --http": async () => {
    const { url, apiKey } = await runPlatform();
    return { url: (await mcpOverHttp({ baseUrl: url })).url, apiKey };
  },
  "the local platform": async () => {
    const { url, apiKey } = await runPlatform({ extensions: [hostedMcp()] });
    return { url: `${url}${MCP_PATH}`, apiKey };
  },
} as const;

test("docs/mcp.md names the suite that is run here, and the scenarios that fit", () => {
  expect(documentedPeers()).toContain(suite.title);
  const [, section = ""] = readFileSync(PAGE, "utf8").split("## Checked against");
  const total = fitting.length + notFitting.length;
  expect(section).toContain(`${fitting.length} of the suite's ${total} scenarios fit`);
  for (const name of fitting) expect(section).toContain(`\`${name}\``);
});

test("every scenario of the suite is known either to fit or not to fit", async () => {
  const known = [...fitting, ...notFitting].sort();
  expect([...(await scenariosOf(suite)).keys()].sort()).toEqual(known);
});

test("every revision that scenarios are for is run", async () => {
  const tags = new Set([...(await scenariosOf(suite)).values()].flat());
  expect([...tags].sort()).toEqual([...revisions, "extension"]);
});

describe.each(revisions)("of %s", (revision) => {
  test.each(Object.entries(servers))(
    "every scenario that fits passes with %s, and no message of any is against the schema",
    async (_, start) => {
      const { url, apiKey } = await start();
      const found = await runSuite(suite, await withToken(url, apiKey), revision);

      const all = [...(await scenariosOf(suite))];
      const meant = all.filter(([, tags]) => tags.includes(revision)).map(([name]) => name);
      expect([...found.keys()].sort()).toEqual(meant.sort());

      for (const [name, problems] of found) {
        const isMeant = (id: string) => isFitting(name) || id.startsWith("wire-schema");
        const noticed = Object.entries(problems).filter(([id]) => isMeant(id));
        const excused = Object.keys(notFittingChecks[name] ?? {});
        expect(Object.fromEntries(noticed), name).toEqual(
          Object.fromEntries(excused.map((id) => [id, expect.any(String)])),
        );
      }
    },
    TIMEOUT_MS,
  );

  test(
    "none of them passes with a server that is none",
    async () => {
      const { url } = await listenUntilEnd(
        createServer((_, response) => response.writeHead(404).end()),
      );
      const found = await runSuite(suite, `${url}/mcp`, revision);
      const failed = [...found].filter(([, problems]) => Object.keys(problems).length > 0);
      const names = failed.map(([name]) => name).filter(isFitting);
      expect(names.sort()).toEqual([...found.keys()].filter(isFitting).sort());
    },
    TIMEOUT_MS,
  );
});

function isFitting(name: string): boolean {
  return fitting.some((each) => each === name);
}
