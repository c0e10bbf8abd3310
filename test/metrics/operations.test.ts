import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../docs/markdown.ts";
import { pageUrl } from "../faces/core.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dashboard, panels, rules } from "./operations-files.ts";
import { scrape, World } from "./world.ts";

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

function namesIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:service_bot|process|nodejs)_\w+/g)].map(([name]) => name);
}

test("alerts and dashboard use only exported metrics", async () => {
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
  const page = readFileSync(join(root, "docs/operate/alerts.md"), "utf8");
  const sections = [...page.matchAll(/^## (\w+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(
    ([, name = "", text = ""]) => ({ name, text }),
  );

  test.each(rules)(
    "$alert: says what is the matter, what to type, and where it is written",
    (rule) => {
      const { summary = "", description = "", runbook_url } = rule.annotations;
      expect(summary).toMatch(/\.$/);
      expect(description).toMatch(/\.$/);
      expect(runbook_url).toBe(pageUrl(`operate/alerts#${rule.alert.toLowerCase()}`));
      expect(["critical", "warning"]).toContain(rule.labels.severity);
    },
  );

  test("each has a section, and each section its alert", () => {
    const names = new Set(rules.map(({ alert }) => alert));
    expect(sections.map(({ name }) => name)).toEqual([...names]);
  });

  test.each(sections)(
    "the section of $name has a check with a command, a fix, and a link",
    ({ text }) => {
      expect(text).toMatch(/^- Check: /m);
      expect(text).toMatch(/doctor|service-bot inbox/);
      expect(text).toMatch(/^- Fix: /m);
      expect(text).toMatch(/^- More: \[/m);
    },
  );

  test.each([
    ["ServiceBotClockWrong", ["timedatectl", "service-bot doctor"]],
    ["ServiceBotStoreFailing", ["df -h", "service-bot doctor"]],
    ["ServiceBotPlatformDown", ["service-bot doctor"]],
    ["ServiceBotPolling", ["modeReason", "service-bot doctor --webhook", "portal"]],
    ["ServiceBotTokenRefused", ["SERVICE_API_KEY", "service-bot doctor", "service-bot inbox list"]],
    ["ServiceBotDeadLetters", ["list", "show", "retry", "discard"].map((w) => `inbox ${w}`)],
  ])("the section of %s names what helps at night", (alert, words) => {
    const section = sections.find(({ name }) => name === alert)?.text.replaceAll(/\s+/g, " ");
    for (const word of words) expect(section).toContain(word);
  });
});
