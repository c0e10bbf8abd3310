import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../docs/markdown.ts";
import { isInstalled, SERVER_PATH } from "../support/server-path.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dm, scrape, scrapeText, World } from "./world.ts";

const folder = join(root, "templates", "operations");
const read = (name: string) => readFileSync(join(folder, name), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups }: { groups: readonly { rules: readonly Rule[] }[] } = parse(read("alerts.yml"));
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly { readonly expr: string }[];
}

const dashboard: { panels: readonly Panel[]; uid: string } = JSON.parse(
  read("grafana-dashboard.json"),
);
const panels = dashboard.panels.filter(({ type }) => type !== "row");

/** Of a bot that has all there is. */
async function toldNames(): Promise<ReadonlySet<string>> {
  const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
  const world = new World();
  const bot = await world.start({ databaseUrl, maxRequestsPerMinute: 60 });
  const families = [...(await scrape(bot)).values()];
  const suffixes = ["_bucket", "_sum", "_count"];
  return new Set(
    families.flatMap(({ name, type }) =>
      type === "histogram" ? suffixes.map((suffix) => name + suffix) : [name],
    ),
  );
}

/** The names of metrics in an expression. */
function namesIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:service_bot|process|nodejs)_\w+/g)].map(([name]) => name);
}

test("alerts and dashboard ask for nothing that a bot does not tell", async () => {
  const told = await toldNames();
  const asked = [
    ...rules.flatMap(({ expr }) => namesIn(expr)),
    ...panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))),
  ];
  expect(asked.length).toBeGreaterThan(50);
  expect(asked.filter((name) => !told.has(name))).toEqual([]);
});

test("the dashboard shows every metric that is the bot's own", async () => {
  const asked = new Set(
    panels.flatMap(({ targets = [] }) => targets.flatMap((t) => namesIn(t.expr))),
  );
  const own = [...(await toldNames())].filter((name) =>
    /^service_bot_.*(?<!_sum|_count)$/.test(name),
  );
  expect(own.filter((name) => !asked.has(name))).toEqual([]);
});

describe("the dashboard", () => {
  test.each(panels)("$title: says what it is about, and in which unit", (panel) => {
    expect(panel.title).not.toBe("");
    expect(panel.description).toMatch(/\.$/);
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^\w+$/);
    expect(panel.targets?.length).toBeGreaterThan(0);
    for (const { expr } of panel.targets ?? []) {
      expect(expr.match(/\{job=~"\$job"/g)?.length).toBe(namesIn(expr).length);
    }
  });

  test("no panel lies on another one, or has its title", () => {
    const titles = panels.map(({ title }) => title);
    expect(new Set(titles).size).toBe(titles.length);
    const places = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
    );
    expect(new Set(places).size).toBe(places.length);
  });
});

describe("the alerts", () => {
  const page = readFileSync(join(root, "docs/alerts.md"), "utf8");
  const sections = [...page.matchAll(/^## (\w+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(
    ([, name = "", text = ""]) => ({ name, text }),
  );

  test.each(rules)(
    "$alert: says what is the matter, what to type, and where it is written",
    (rule) => {
      const { summary = "", description = "", runbook } = rule.annotations;
      expect(summary).toMatch(/\.$/);
      expect(description).toMatch(/\.$/);
      expect(runbook).toBe(`docs/alerts.md#${rule.alert.toLowerCase()}`);
      expect(["critical", "warning"]).toContain(rule.labels.severity);
    },
  );

  test("each has a section, and each section its alert", () => {
    const names = new Set(rules.map(({ alert }) => alert));
    expect(sections.map(({ name }) => name)).toEqual([...names]);
  });

  test.each(sections)(
    "the section of $name says how the bot shows it, and what mends it",
    ({ text }) => {
      expect(text).toMatch(/^- (The status|The log|The label)/m);
      expect(text).toMatch(/doctor|service-bot inbox/);
      expect(text).toMatch(/^- Mend it: /m);
      expect(text).toMatch(/^- In detail: \[/m);
    },
  );
});

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
    expect(check(["test", "rules", "alerts.test.yml"])).toBe("");
    const fired = new Set(
      [...read("alerts.test.yml").matchAll(/alertname="(\w+)", sev/g)].map(([, n]) => n),
    );
    expect(fired).toEqual(new Set(rules.map(({ alert }) => alert)));
  });

  test("finds nothing to mend in what a bot tells", async () => {
    const world = new World();
    const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
    const bot = await world.start({ databaseUrl, maxRequestsPerMinute: 60 });
    await world.deliver(bot, [dm("1")]);
    await bot.idle();
    expect(check(["check", "metrics"], await scrapeText(bot))).toBe("");
    // It would: without a help text, and a counter that is called otherwise.
    expect(check(["check", "metrics"], "# TYPE a counter\na 1\n")).toContain("_total");
  });

  test("takes every expression of the dashboard", () => {
    const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const rules = exprs.map((expr, n) => ({
      record: `panel:${n}`,
      // What Grafana fills in.
      expr: expr.replaceAll("$__rate_interval", "5m").replaceAll(/\$\w+/g, ".*"),
    }));
    const file = join(temporaryFolder(), "dashboard.yml");
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    expect(check(["check", "rules", file])).toBe("");
  });
});
