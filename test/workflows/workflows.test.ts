import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { nodes } from "../../scripts/registry/toolchain.ts";
import { actionsIn, problemsOf } from "./problems.ts";
import { ownWorkflow, workflows } from "./workflows.ts";

const root = join(import.meta.dirname, "../..");

const [ci, release] = [ownWorkflow("ci.yml"), ownWorkflow("release.yml")];
const proposal = ownWorkflow("release-pull-request.yml");

test.each(workflows)("$path keeps our rules", ({ content }) => {
  expect(actionsIn(content).length).toBeGreaterThan(1);
  expect(problemsOf(content)).toEqual([]);
});

test("the starter has the actions of the project, wherever it has them", () => {
  const starter = readFileSync(
    join(root, "templates/starter/_github/workflows/ci.yml"),
    "utf8",
  ).matchAll(/uses: ([^\s@]+)@(\S+) # (\S+)/g);
  const used = [...starter].map(([, action, hash, version]) => ({ action, hash, version }));
  expect(used.length).toBe(2);
  const all = workflows.flatMap(({ content: text }) => actionsIn(text));
  for (const action of [...used, ...all]) {
    expect(all.filter((each) => each.action === action.action)).toEqual(
      expect.arrayContaining([action]),
    );
    const hashes = new Set(all.filter((each) => each.action === action.action).map((a) => a.hash));
    expect(hashes).toEqual(new Set([action.hash]));
  }
});

test("CI runs every part of .ci/run, and the release check once for each Node", () => {
  const [, parts = ""] = /^PARTS="(.*)"$/m.exec(readFileSync(join(root, ".ci/run"), "utf8")) ?? [];
  const { part, newcomer } = parse(ci).jobs;
  const run = part.strategy.matrix.include.map((each: { part: string }) => each.part);
  expect([...run, "release"]).toEqual(parts.split(" "));
  const projects = readFileSync(join(root, "vitest.config.ts"), "utf8").matchAll(/name: "(\w+)"/g);
  const all = [...projects].map(([, project = ""]) => project);
  expect(all.filter((project) => !run.includes(project))).toEqual(["containers"]);
  const lines = newcomer.strategy.matrix.node.map((line: string) => `node${line}`);
  expect(lines).toEqual(Object.keys(nodes));
});

describe("there would be a complaint about", () => {
  test.each([
    ["an action pinned by its tag", / *@3d3c\w+ # v7.0.1/, "@v7", "not pinned"],
    ["an action by a hash without its version", / # v7\.0\.0/, "", "not pinned"],
    ["rights for every job", "permissions: {}", "permissions: write-all", "more rights"],
    ["no word about rights", "permissions: {}\n", "", "more rights"],
    ["a job that may write", "contents: read", "contents: write", "may write contents"],
    ["pull requests of strangers", "  pull_request:\n", "  pull_request_target:\n", "strangers"],
    ["a job without an end", "    timeout-minutes: 60\n", "", "no time limit"],
    ["words of others in a script", ".ci/run", "echo $\u007b{ github.head_ref }}", "expression"],
  ])("%s", (_, from, to, complaint) => {
    expect(ci).toMatch(from);
    expect(problemsOf(ci.replace(from, to)).join("\n")).toContain(complaint);
  });

  test.each([
    ["a job that publishes unasked", "    environment: npm\n", "", "publishes unasked"],
    [
      "third-party code with the right to publish",
      "base64 --decode",
      "npm ci; base64",
      "runs others",
    ],
  ])("%s", (_, from, to, complaint) => {
    expect(release).toContain(from);
    expect(problemsOf(release.replace(from, to)).join("\n")).toContain(complaint);
  });

  test.each([
    ["another job that may push", "  release-pull-request:\n", "  other:\n", "may write contents"],
    [
      "another right of the job that may push",
      "pull-requests: write",
      "packages: write",
      "packages",
    ],
    ["dependencies in the job that may push", "version=$(node", "npm ci; $(node", "may push"],
  ])("%s", (_, from, to, complaint) => {
    expect(proposal).toContain(from);
    expect(problemsOf(proposal.replace(from, to)).join("\n")).toContain(complaint);
  });
});
