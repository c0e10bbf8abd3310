import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { longestStopMs, operations, root } from "./code.ts";
import { Manifest } from "./kubernetes.ts";
import { Unit } from "./unit.ts";

const read = (page: string) =>
  readFileSync(join(root, "docs/deploy", page), "utf8").replaceAll(/\s+/g, " ");
const systemd = read("systemd.md");
const kubernetes = read("kubernetes.md");

test("docs/deploy/kubernetes.md names both manifests, and they are in the package", () => {
  for (const name of ["sqlite.yaml", "postgres.yaml"]) {
    expect(kubernetes).toContain(`\`${name}\``);
    expect(existsSync(join(operations, "kubernetes", name))).toBe(true);
  }
});

test("docs/deploy/systemd.md names the unit, which is in the package", () => {
  expect(systemd).toContain("operations/service-bot@.service");
  expect(existsSync(join(operations, "service-bot@.service"))).toBe(true);
});

test("docs/deploy/systemd.md has the time to stop of the unit", () => {
  const [seconds] = new Unit(join(operations, "service-bot@.service")).all("TimeoutStopSec");
  const unit = Number.parseInt(seconds ?? "", 10);
  const grace = unit - (longestStopMs() - 10_000) / 1000;
  expect(systemd).toContain(`the unit gives a bot ${unit} s to stop`);
  expect(systemd).toContain(`\`shutdownGraceMs\` above ${grace} s`);
});

test("docs/deploy/kubernetes.md has the times of the manifest", () => {
  const manifest = new Manifest("postgres.yaml");
  expect(kubernetes).toContain(`a pod has ${manifest.pod.terminationGracePeriodSeconds} s to stop`);
  expect(kubernetes).toContain(`\`DRAIN_MS=${manifest.env("DRAIN_MS")}\``);
});
