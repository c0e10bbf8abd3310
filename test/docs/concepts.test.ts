import { expect, test } from "vitest";
import { defaults, settings } from "../faces/bot.ts";
import { permanentCodes } from "../faces/dispatcher.ts";
import { defaultLane } from "../faces/events.ts";
import { pages } from "./markdown.ts";

const DAY_MS = 86_400_000;

function concept(name: string): string {
  const page = pages.find(({ path }) => path === `docs/concepts/${name}.md`);
  return page?.text.replaceAll(/\s+/g, " ") ?? "";
}

test("docs/concepts has the defaults", () => {
  const { retry, retention, leaseMs, requestTimeoutMs } = defaults;
  expect(concept("event")).toContain(
    `every ${Number(settings.pollIntervalMs.fallback) / 1000} seconds`,
  );
  expect(concept("event")).toContain(`about ${Number(settings.silenceMs.fallback) / 1000} seconds`);
  expect(settings.auditIntervalMs.fallback).toBe("60000");
  expect(concept("order")).toContain(`${settings.concurrency.fallback} lanes at once`);
  expect(concept("order")).toContain(`after ${leaseMs / 1000} seconds (\`leaseMs\`)`);
  expect(concept("retries")).toContain(`After ${settings.maxAttempts.fallback} attempts`);
  expect(concept("retries")).toContain(`up to ${retry.maxMs / 60_000} minutes`);
  expect(retry).toMatchObject({ baseMs: 1_000, factor: 2 });
  expect(concept("steps")).toContain(`${requestTimeoutMs / 1000 + 1} seconds after the intent`);
  expect(concept("dead-letters")).toContain(`after ${retention.deadLettersMs / DAY_MS} days`);
  expect(concept("guarantees")).toContain(`for ${retention.deadLettersMs / DAY_MS} days`);
  expect(concept("guarantees")).toContain(`for ${retention.idsMs / DAY_MS} days`);
});

test("docs/concepts/order.md has the lanes", () => {
  const lane = (type: string, payload: Record<string, unknown>) =>
    defaultLane({ id: "1", type, payload, createdAt: "2026-11-23T00:00:00.000Z" } as never);
  const prefixes = [
    lane("dm.message", { conversationId: "c_1" }),
    lane("mention", { actor: { username: "ada" }, postId: "p_1" }),
    lane("follow", { actor: { username: "ada" } }),
    lane("poll.closed", {}),
  ].map((name) => name.split(":")[0]);
  const table = concept("order").split("## Which events wait")[0] ?? "";
  expect([...table.matchAll(/`(\w+):`/g)].map(([, prefix]) => prefix)).toEqual(prefixes);
});

test("docs/concepts names permanent codes as permanent", () => {
  for (const code of ["BLOCKED", "TOO_LONG", "STEP_UNCERTAIN", "GAVE_UP"] as const) {
    expect(permanentCodes.has(code), code).toBe(true);
    expect(concept("dead-letters")).toContain(`\`${code}\``);
  }
});

test("docs/concepts/glossary.md is in alphabetical order, with a line for each term", () => {
  const terms = [...concept("glossary").matchAll(/\| \*\*\[?([\w ]+)/g)].map(
    ([, term = ""]) => term,
  );
  expect(terms.length).toBeGreaterThan(25);
  expect(terms).toEqual([...new Set(terms)].sort((a, b) => a.localeCompare(b, "en")));
});
