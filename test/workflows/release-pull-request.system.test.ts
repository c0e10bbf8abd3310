import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/root.ts";
import { run } from "../faces/create.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scriptOf } from "./workflows.ts";

const script = scriptOf("release-pull-request.yml", "release-pull-request", "propose");

/** A repository with the files of a release, its remote, and a `gh` that records its arguments. */
async function repository(openPullRequest: string) {
  const folder = temporaryFolder();
  const cwd = join(folder, "checkout");
  for (const name of ["scripts/release", "scripts/root.ts"]) {
    cpSync(join(root, name), join(cwd, name), { recursive: true });
  }
  const lock = { version: "0.1.0", packages: { "": { version: "0.1.0" } } };
  writeFileSync(join(cwd, "package.json"), '{ "type": "module", "version": "0.1.0" }');
  writeFileSync(join(cwd, "package-lock.json"), JSON.stringify(lock));
  writeFileSync(join(cwd, "CHANGELOG.md"), "# Changelog\n\n## 0.1.0 - 2026-01-01\n");
  mkdirSync(join(folder, "bin"));
  const gh = `#!/bin/sh
if [ "$2" = list ]; then echo "${openPullRequest}"; else echo "$*" >>"${folder}/asked"; fi
`;
  writeFileSync(join(folder, "bin/gh"), gh);
  chmodSync(join(folder, "bin/gh"), 0o755);
  writeFileSync(join(folder, "asked"), "");
  const identity = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@a.example", HOME: folder };
  const committer = { GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@a.example" };
  const path = `${join(folder, "bin")}:${process.env["PATH"]}`;
  const env = { ...identity, ...committer, PATH: path };
  const bash = async (command: string) => {
    const { code, output } = await run("bash", ["-e", "-c", command], { cwd, env });
    expect(code, output).toBe(0);
    return output;
  };
  await bash(
    "git init --quiet --bare ../remote && git init --quiet && git remote add origin ../remote",
  );
  return { cwd, bash, asked: () => readFileSync(join(folder, "asked"), "utf8") };
}

const change = "---\nrelease: minor\nsection: Added\n---\n\n- A new thing.\n";

test.each([
  ["", "pr create --head release/next --title Release 0.2.0"],
  ["7", "pr edit 7 --title Release 0.2.0"],
])("a change is proposed on a branch of its own (open pull request: %j)", async (open, call) => {
  const { cwd, bash, asked } = await repository(open);
  mkdirSync(join(cwd, ".changeset"));
  writeFileSync(join(cwd, ".changeset/thing.md"), change);
  await bash("git add . && git commit --quiet --message start");
  await bash(script);
  expect(asked()).toContain(call);
  expect(await bash("git ls-tree --name-only origin/release/next")).not.toContain(".changeset");
  const lock = await bash("git show origin/release/next:package-lock.json");
  expect(JSON.parse(lock)).toEqual({ version: "0.2.0", packages: { "": { version: "0.2.0" } } });
  const changelog = await bash("git show origin/release/next:CHANGELOG.md");
  expect(changelog).toMatch(/^## 0\.2\.0 - \d{4}-\d\d-\d\d$/m);
  expect(changelog).toContain("### Added\n\n- A new thing.\n");
});

test("without a change, nothing is proposed", async () => {
  const { bash, asked } = await repository("");
  await bash("git add . && git commit --quiet --message start");
  await bash(script);
  expect(asked()).toBe("");
  expect(await bash("git branch --all")).not.toContain("release/next");
});
