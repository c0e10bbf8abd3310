import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { alertCases } from "../../scripts/operations/alert-cases.ts";
import { alertTests } from "../../scripts/operations/alert-tests.ts";
import { isInstalled, SERVER_PATH } from "../support/server-path.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { folder, panels, rules } from "./operations-files.ts";
import { dm, scrapeText, World } from "./world.ts";

const promtool = ["promtool", "--version"] as const;
const missing = isInstalled(promtool)
  ? ""
  : " (skipped: there is no promtool; Debian: apt-get install --no-install-recommends prometheus)";

function check(args: readonly string[], input = ""): string {
  const env = { ...process.env, PATH: SERVER_PATH };
  const { status, stdout, stderr } = spawnSync("promtool", args, {
    ...{ input, env, cwd: folder, encoding: "utf8" },
  });
  return status === 0 ? "" : `${status}: ${stdout}${stderr}`;
}

describe.skipIf(missing !== "")(`promtool${missing}`, () => {
  test("takes the rules", () => {
    expect(check(["check", "rules", "alerts.yml"])).toBe("");
  });

  test("sees each alert fire when it should, and no other one", { timeout: 60_000 }, () => {
    const place = temporaryFolder();
    copyFileSync(join(folder, "alerts.yml"), join(place, "alerts.yml"));
    writeFileSync(join(place, "alerts.test.yml"), alertTests());
    expect(check(["test", "rules", join(place, "alerts.test.yml")])).toBe("");
    const fired = alertCases.flatMap(({ firing }) => Object.values(firing).flat());
    expect(new Set(fired.map((alert) => alert.split(" ")[0]))).toEqual(
      new Set(rules.map(({ alert }) => alert)),
    );
  });

  test("has no complaints about a bot's metrics", async () => {
    const world = new World();
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const bot = await world.start({ databaseUrl, maxRequestsPerMinute: 60 });
    await world.deliver(bot, [dm("1")]);
    await bot.idle();
    expect(check(["check", "metrics"], await scrapeText(bot))).toBe("");
    // Positive control: the check reports a counter without a help text or the usual suffix.
    expect(check(["check", "metrics"], "# TYPE a counter\na 1\n")).toContain("_total");
  });

  test("takes every expression of the dashboard", () => {
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const records = exprs.map((expr, n) => ({
      record: `panel:${n}`,
      // Grafana replaces these variables before it sends a query.
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$\w+/g, ".*"),
    }));
    const file = join(temporaryFolder(), "dashboard.yml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules: records }] }));
    expect(check(["check", "rules", file])).toBe("");
  });
});
