import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { scaffold, temporaryDirectory } from "../create/harness.ts";
import { longestStopMs, operations } from "./code.ts";

const folder = join(operations, "replicas");
const { services } = parse(readFileSync(join(folder, "compose.override.yaml"), "utf8"), {
  merge: true,
});
const caddyfile = readFileSync(join(folder, "Caddyfile"), "utf8");

test("the compose file, the Caddyfile and the script name the same bots", () => {
  const names = Object.keys(services);
  expect(caddyfile).toContain(`reverse_proxy ${names.map((name) => `${name}:3000`).join(" ")} {`);
  expect(readFileSync(join(folder, "update.sh"), "utf8")).toContain(
    `for bot in ${names.join(" ")};`,
  );
});

test("each further bot is as the one of a scaffolded bot on PostgreSQL", async () => {
  const cwd = await temporaryDirectory();
  const flags = ["--store", "postgres", "--no-install", "--no-git"];
  expect(await scaffold(["bot", ...flags], { cwd })).toMatchObject({ code: 0 });
  const { bot } = parse(readFileSync(join(cwd, "bot/compose.yaml"), "utf8")).services;
  const { bot: own, ...others } = services;
  const drained = { ...bot, environment: { ...bot.environment, ...own.environment } };
  for (const [name, other] of Object.entries(others)) expect(other, name).toEqual(drained);
});

test("a bot takes deliveries until Caddy has noticed, and has its time to stop after that", () => {
  const seconds = (name: string) =>
    Number(new RegExp(`${name} (\\d+)s`).exec(caddyfile)?.[1] ?? Number.NaN);
  const noticedMs = (seconds("health_interval") + seconds("health_timeout") + 1) * 1000;
  for (const { environment, stop_grace_period = "20s" } of Object.values<Service>(services)) {
    const drainMs = Number(environment["DRAIN_MS"]);
    expect(drainMs).toBeGreaterThan(noticedMs);
    expect(Number.parseInt(stop_grace_period, 10) * 1000).toBeGreaterThan(longestStopMs(drainMs));
  }
});

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
}
