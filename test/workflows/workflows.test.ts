import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { nodes } from "../../scripts/registry/toolchain.ts";
import { ownWorkflow, workflows } from "./workflows.ts";

const root = join(import.meta.dirname, "../..");

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  /** A workflow that the job runs, in place of steps. */
  readonly uses?: string;
  readonly environment?: string;
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** Rights with which a job publishes. */
const PUBLISHING = ["id-token", "pages"];

/** The job that opens the release pull request, and its rights. */
const PROPOSING = {
  job: "release-pull-request",
  rights: { contents: "write", "pull-requests": "write" },
};

/** A step that runs code of dependencies, which could steal a right to write. */
const INSTALLS = /\bnpm (?:ci|install|run|exec)\b|\bnpx\b/;

/** Returns the uses of actions from other repositories, such as `actions/checkout@3d3c… # v7.0.1`. */
function actionsIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:- )?uses: +(?!\.\/)(.*)$/gm)].map(([, use = ""]) => use);
}

describe.each(workflows)("$path", ({ content }) => {
  const { on, permissions, jobs }: Workflow = parse(content);
  const { [PROPOSING.job]: proposing, ...others } = jobs;
  const publishing = Object.values(jobs).filter((job) =>
    PUBLISHING.some((right) => right in (job.permissions ?? {})),
  );

  test("pins each action to a commit, with its version", () => {
    const actions = actionsIn(content);
    const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
    expect(actions).toHaveLength(steps.filter(({ uses = "./" }) => !uses.startsWith("./")).length);
    for (const use of actions) expect(use).toMatch(/^\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("may only read, apart from jobs that publish or propose a release", () => {
    const rights = [permissions, ...Object.values(others).map((job) => job.permissions ?? {})];
    const rest = rights.flatMap(Object.entries).filter(([name]) => !PUBLISHING.includes(name));
    for (const [name, right] of rest) expect([name, right]).toEqual(["contents", "read"]);
    if (proposing !== undefined) expect(proposing.permissions).toEqual(PROPOSING.rights);
    expect(JSON.stringify(on)).not.toContain("pull_request_target");
  });

  test("lets a job publish only if it is approved and runs no third-party code", () => {
    for (const { environment, steps = [] } of publishing) {
      expect(environment).toBeDefined();
      for (const { uses = "", run = "" } of steps) {
        expect(uses).not.toMatch(/^actions\/checkout@/);
        expect(run).not.toMatch(INSTALLS);
      }
    }
  });

  test("installs nothing in a job that may push", () => {
    for (const { run = "" } of proposing?.steps ?? []) expect(run).not.toMatch(INSTALLS);
  });

  test("has a time limit for each job, and no expression in a script", () => {
    for (const job of Object.values(jobs)) {
      if (job.uses === undefined) expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const { run = "" } of job.steps ?? []) expect(run).not.toContain("${{");
    }
  });
});

test("the starter and all workflows use the same version of an action", () => {
  const starter = readFileSync(join(root, "templates/starter/_github/workflows/ci.yml"), "utf8");
  const uses = new Set([starter, ...workflows.map(({ content }) => content)].flatMap(actionsIn));
  expect(actionsIn(starter)).toHaveLength(2);
  const names = [...uses].map((use) => use.split("@", 1)[0]);
  expect(names).toEqual([...new Set(names)]);
});

test("CI runs every part of .ci/run, and the release check once for each Node", () => {
  const [, parts = ""] = /^PARTS="(.*)"$/m.exec(readFileSync(join(root, ".ci/run"), "utf8")) ?? [];
  const { part, newcomer } = parse(ownWorkflow("ci.yml")).jobs;
  const run = part.strategy.matrix.include.map((each: { part: string }) => each.part);
  expect([...run, "release"]).toEqual(parts.split(" "));
  const projects = readFileSync(join(root, "vitest.config.ts"), "utf8").matchAll(/name: "(\w+)"/g);
  const all = [...projects].map(([, project = ""]) => project);
  expect(all.filter((project) => !run.includes(project))).toEqual(["containers"]);
  const lines = newcomer.strategy.matrix.node.map((line: string) => `node${line}`);
  expect(lines).toEqual(Object.keys(nodes));
});
