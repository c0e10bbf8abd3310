import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Bot } from "../../src/index.ts";
import { root } from "../docs/markdown.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { type Family, labelsOf } from "./scrape.ts";
import { dm, scrape, World } from "./world.ts";

interface Row {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly meaning: string;
}

function documented(text: string): Row[] {
  const rows = [...text.matchAll(/^\| `(service_bot_\w+)` \| (\w+) \| (.*?) ?\| (.+) \|$/gm)];
  return rows.map(([, name = "", type = "", labels = "", meaning = ""]) => ({
    ...{ name, type, meaning },
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label),
  }));
}

function rowOf(family: Family): Row {
  const { name, type, help } = family;
  return { name, type, labels: labelsOf(family), meaning: help };
}

const isOwn = ({ name }: { readonly name: string }) => name.startsWith("service_bot_");
const names = (all: readonly { readonly name: string }[]) => all.map(({ name }) => name).sort();

const text = readFileSync(join(root, "docs/operate/metrics.md"), "utf8");

/** Starts a bot with every feature. Some series appear only on first use, so it also causes each of their labels. */
async function busyBot(): Promise<Bot> {
  const world = new World();
  const databaseUrl = `file:${join(temporaryFolder(), "bot.db")}`;
  const bot = await world.start({ databaseUrl, maxRequestsPerMinute: 60 });
  await world.deliver(bot, [dm("1")]);
  await bot.idle();
  return bot;
}

test("docs/operate/metrics.md has every metric of a bot with type, labels and meaning, and no other", async () => {
  const scraped = [...(await scrape(await busyBot())).values()].filter(isOwn).map(rowOf);
  const rows = documented(text);
  expect(scraped.length).toBeGreaterThan(30);
  expect(names(rows)).toEqual(names(scraped));
  for (const row of scraped) expect(rows.find(({ name }) => name === row.name)).toEqual(row);
});

test.runIf(process.platform === "linux")("and every metric of its process by name", async () => {
  const scraped = [...(await scrape(await busyBot())).values()].filter((one) => !isOwn(one));
  const [, list = ""] = /^### The process\n([\s\S]*)/m.exec(text) ?? [];
  expect(scraped.length).toBeGreaterThan(10);
  expect([...list.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name).sort()).toEqual(
    names(scraped),
  );
});

test("every label has a row that says what it can be", async () => {
  const families = [...(await scrape(await busyBot())).values()].filter(isOwn);
  const [, table = ""] = /^## Labels\n([\s\S]*?)^## /m.exec(text) ?? [];
  const first = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = ""]) => [
    ...cell.matchAll(/`(\w+)`/g),
  ]);
  const explained = new Set(first.map(([, label]) => label));
  expect(explained).toEqual(new Set(families.flatMap(labelsOf)));
});

test("a metric without a row, and a row without its metric, are noticed", () => {
  const row = "| `service_bot_made_up_total` | counter | `a`, `b` | Made up. |";
  expect(documented(row)).toEqual([
    {
      name: "service_bot_made_up_total",
      type: "counter",
      labels: ["a", "b"],
      meaning: "Made up.",
    },
  ]);
});
