import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../faces/create.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scriptOf } from "./workflows.ts";

const root = join(import.meta.dirname, "../..");

interface Case {
  readonly version?: string;
  /** Versions that are already in the registry. */
  readonly published?: readonly string[];
  /** Content of the tarballs when they arrive at the registry. */
  readonly arrived?: string;
}

async function publish({ version = "1.2.3", published = [], arrived = "packed" }: Case = {}) {
  const folder = temporaryFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const npm = `#!/bin/sh
if [ "$1" = view ]; then
  case " ${published.join(" ")} " in *" $2 "*) exit 0 ;; *) exit 1 ;; esac
fi
echo "$*" >>"${folder}/asked"
`;
  writeFileSync(join(bin, "npm"), npm);
  chmodSync(join(bin, "npm"), 0o755);
  writeFileSync(join(folder, "asked"), "");
  const names = [`create-service-bot-${version}.tgz`, `service-bot-${version}.tgz`];
  for (const name of names) writeFileSync(join(folder, name), arrived);
  const sum = createHash("sha256").update("packed").digest("hex");
  const sums = names.map((name) => `${sum}  ${name}\n`).join("");
  // Run the script the way GitHub does.
  const args = ["-e", "-c", scriptOf("release.yml", "publish", "publish")];
  const env = {
    PATH: `${bin}:${process.env["PATH"]}`,
    VERSION: version,
    SUMS: Buffer.from(sums).toString("base64"),
  };
  const { code } = await run("bash", args, { cwd: folder, env });
  return { code, asked: readFileSync(join(folder, "asked"), "utf8").trim().split("\n") };
}

const flags = "--provenance --access public --tag";

test("both packages are published with provenance, dependency first", async () => {
  expect(await publish()).toEqual({
    code: 0,
    asked: [
      `publish ./service-bot-1.2.3.tgz ${flags} latest`,
      `publish ./create-service-bot-1.2.3.tgz ${flags} latest`,
    ],
  });
});

test("what an earlier try has published is not published again", async () => {
  const { asked } = await publish({ published: ["service-bot@1.2.3"] });
  expect(asked).toEqual([`publish ./create-service-bot-1.2.3.tgz ${flags} latest`]);
});

test("a version before another is not what everybody gets", async () => {
  const { asked } = await publish({ version: "2.0.0-rc.1" });
  expect(asked[0]).toBe(`publish ./service-bot-2.0.0-rc.1.tgz ${flags} next`);
});

test("what is not as it was packed is not published", async () => {
  const { code, asked } = await publish({ arrived: "something else" });
  expect(code).not.toBe(0);
  expect(asked).toEqual([""]);
});

test("a tag that is not the version is refused before anything is packed", async () => {
  const script = scriptOf("release.yml", "pack", "pack");
  const env = { PATH: process.env["PATH"] ?? "", GITHUB_REF_NAME: "v99.0.0" };
  const { code, output } = await run("bash", ["-e", "-c", script], { cwd: root, env });
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining("v99.0.0") });
});
