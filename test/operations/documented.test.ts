import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longestStopMs, operations, root } from "./code.ts";
import { Manifest } from "./kubernetes.ts";
import { Unit } from "./unit.ts";

const page = readFileSync(join(root, "docs/deploy/overview.md"), "utf8");

test("docs/deploy/overview.md names files that there are", () => {
  const named = [...page.matchAll(/operations\/([\w@.-]+\.\w+)/g)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !existsSync(join(operations, name)))).toEqual([]);
  for (const name of ["sqlite.yaml", "postgres.yaml"]) expect(page).toContain(`\`${name}\``);
});

test("docs/deploy/overview.md has the times that the unit and the manifests give", () => {
  const [seconds] = new Unit(join(operations, "service-bot@.service")).all("TimeoutStopSec");
  const unit = Number.parseInt(seconds ?? "", 10);
  const grace = unit - (longestStopMs() - 10_000) / 1000;
  expect(page).toContain(`The unit gives a bot ${unit} s to stop`);
  expect(page).toContain(`\`shutdownGraceMs\` above ${grace} s`);
  const manifest = new Manifest("postgres.yaml");
  expect(page).toContain(`A pod has ${manifest.pod.terminationGracePeriodSeconds} s to end`);
  expect(page).toContain(`\`DRAIN_MS=${manifest.env("DRAIN_MS")}\``);
});
