import { describe, expect, test } from "vitest";
import { Client } from "../../faces/client.ts";
import type { Scope } from "../../faces/platform.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { access, examine, serve, trouble } from "./examine.ts";

describe("the platform", () => {
  test("an unavailable platform is reported with its remedy", async () => {
    const examined = await examine(access({ url: "http://127.0.0.1:2" }));
    expect(examined.code).toBe(1);
    expect(trouble(examined, "platform")).toEqual([
      {
        area: "platform",
        level: "fail",
        what: expect.stringContaining("nothing is listening there"),
        remedy: expect.stringContaining("SERVICE_BASE_URL"),
      },
    ]);
  });

  test("an unknown token is reported", async () => {
    const { url } = await runPlatform();
    const examined = await examine(access({ url, apiKey: "sbk_wrong" }));
    expect(examined.code).toBe(1);
    expect(trouble(examined, "platform")).toEqual([
      expect.objectContaining({
        what: expect.stringContaining("401"),
        remedy: expect.stringContaining("SERVICE_API_KEY"),
      }),
    ]);
  });

  test("an app that its owner has switched off is reported", async () => {
    const platform = await runPlatform();
    platform.control.apps.set("bot", { disabled: true });
    const examined = await examine(access(platform));
    expect(examined.code).toBe(1);
    expect(trouble(examined, "platform")).toEqual([
      expect.objectContaining({ remedy: expect.stringContaining("enabled") }),
    ]);
  });

  test("another server at the URL is reported", async () => {
    const url = await serve((_request, response) => void response.writeHead(404).end("not here"));
    const examined = await examine(access({ url }));
    expect(examined.code).toBe(1);
    expect(trouble(examined, "platform")).toEqual([
      expect.objectContaining({ remedy: expect.stringContaining("Is this the platform?") }),
    ]);
  });
});

describe("the clock", () => {
  test.each([
    { ahead: 0, level: "ok", what: /^the clock differs .* by [0-2] s$/ },
    {
      ahead: 60,
      level: "note",
      what: /^the clock is (59|60|61) s behind the platform's; .*300 s/,
    },
    { ahead: -60, level: "note", what: /^the clock is (59|60|61) s ahead of the platform's; / },
    { ahead: 400, level: "fail", what: /^the clock is \d+ s behind .*rejects every delivery$/ },
  ])("$ahead s from the platform's: $level", async ({ ahead, level, what }) => {
    const url = await serve((_request, response) => {
      response.setHeader("date", new Date(Date.now() + ahead * 1000).toUTCString());
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"username":"bot","items":[],"nextCursor":null,"events":[],"cursor":"1"}');
    });
    const { findings, code } = await examine(access({ url }));
    expect(findings.filter(({ area }) => area === "clock")).toEqual([
      expect.objectContaining({ level, what: expect.stringMatching(what) }),
    ]);
    expect(code).toBe(level === "fail" ? 1 : 0);
  });
});

describe("scopes", () => {
  const every: readonly Scope[] = ["read", "posts:write", "comments:write", "dm"];

  async function withScopes(scopes: readonly Scope[], env: Record<string, string> = {}) {
    const platform = await runPlatform();
    const { apiKey } = platform.control.createToken([...scopes]);
    return await examine({ ...access({ url: platform.url, apiKey }), ...env });
  }

  test("its probes are marked, unlike what the bot does", async () => {
    const platform = await runPlatform();
    const probes: (true | undefined)[] = [];
    platform.onTimeline((entry) => {
      if (entry.kind === "api") probes.push(entry.doctor);
    });
    const { apiKey } = platform.control.createToken([...every]);
    await examine(access({ url: platform.url, apiKey }));
    expect(probes.length).toBeGreaterThan(4);
    expect(new Set(probes)).toEqual(new Set([true]));
    await new Client({ baseUrl: platform.url, apiKey }).me();
    expect(probes.at(-1)).toBeUndefined();
  });

  test("all scopes are found", async () => {
    const examined = await withScopes(every);
    expect(trouble(examined, "scopes")).toEqual([]);
    expect(examined.out).toContain("read, dm, comments:write, posts:write");
    expect(examined.code).toBe(0);
  });

  test.each(every)(
    "%s that is missing is reported, with what cannot be done without it",
    async (scope) => {
      const examined = await withScopes(every.filter((one) => one !== scope));
      expect(trouble(examined, "scopes")).toEqual([
        expect.objectContaining({
          level: "note",
          what: expect.stringMatching(new RegExp(`^the token lacks the scope ${scope}: .+`)),
        }),
      ]);
      expect(examined.code).toBe(0);
    },
  );

  test("a token that may not read the log fails, unless the log is not read", async () => {
    const examined = await withScopes(["comments:write"]);
    expect(trouble(examined, "scopes").at(-1)).toMatchObject({
      level: "fail",
      remedy: expect.stringContaining(`scope "read" or "dm"`),
    });
    expect(examined.code).toBe(1);
    expect((await withScopes(["comments:write"], { DELIVERY: "webhook" })).code).toBe(0);
  });

  test("a platform that limits requests does not make a scope missing", async () => {
    const url = await serve((request, response) => {
      const me = request.url === "/api/v1/me";
      response.writeHead(me ? 200 : 429, { "content-type": "application/json" });
      response.end('{"username":"bot"}');
    });
    const examined = await examine({ ...access({ url }), DELIVERY: "webhook" });
    expect(trouble(examined, "scopes").map(({ what }) => what)).toContain(
      "cannot check the scope dm now",
    );
    expect(examined.out).not.toContain("lacks");
  });
});
