import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { imageReferences, pinImages, TEMPLATES, unpinned } from "../../scripts/images/images.ts";
import { root } from "../../scripts/root.ts";
import { documentedBlock } from "../docs/markdown.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scaffold, temporaryDirectory } from "./harness.ts";

const digest = (digit: string) => `sha256:${digit.repeat(64)}`;

/** Creates a `docker` that returns the digest in the file DIGEST for the images with a tag of their own. */
function fakeDocker(folder: string, answer: string): NodeJS.ProcessEnv {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "docker"),
    `#!/bin/sh
[ "$1 $2 $3 $5 $6" = "buildx imagetools inspect --format {{.Manifest.Digest}}" ] || exit 2
case "$4" in *@*|registry.example.org/*) echo "cannot inspect $4" >&2; exit 1;; esac
echo "$4" >>"${join(folder, "asked")}"
echo "${answer}"
`,
  );
  chmodSync(join(bin, "docker"), 0o755);
  return { ...process.env, PATH: `${bin}:${process.env.PATH}` };
}

function run(args: readonly string[], env: NodeJS.ProcessEnv) {
  const program = join(root, "scripts/images/main.ts");
  return spawnSync(process.execPath, [program, ...args], { env, encoding: "utf8" });
}

/** Returns a copy of templates/ that may be changed. */
function copyOfTemplates(folder: string): string {
  const copy = join(folder, "templates");
  cpSync(TEMPLATES, copy, { recursive: true });
  return copy;
}

const shown = (folder: string) =>
  imageReferences(folder).map(({ file, image, digest }) =>
    [file, digest === undefined ? image : `${image}@${digest}`].join(" "),
  );

describe("the images of templates/", () => {
  test("are pinned by digest, or listed with the reason why not", () => {
    const references = imageReferences(TEMPLATES);
    expect(references.length).toBeGreaterThan(5);
    const open = references.filter(({ digest }) => digest === undefined).map(({ image }) => image);
    expect([...new Set(open)].sort()).toEqual(Object.keys(unpinned).sort());
    for (const reason of Object.values(unpinned)) expect(reason).toMatch(/\w+ \w+/);
  });

  test("have a version, so that a digest's renewal is no update", () => {
    for (const { image } of imageReferences(TEMPLATES)) expect(image).toMatch(/:\d[\w.-]*$/);
  });

  test("have the same digest wherever they are named", () => {
    const all = new Set(
      imageReferences(TEMPLATES).map(({ image, digest }) => `${image} ${digest}`),
    );
    const images = new Set(imageReferences(TEMPLATES).map(({ image }) => image));
    expect(all.size).toBe(images.size);
  });

  test.each([
    ["Dockerfile", "FROM --platform=linux/amd64 node:24\n"],
    ["compose.yaml", 'services:\n  a:\n    image: "postgres:18"\n'],
    ["compose.yaml", `services:\n  a:\n    image: postgres:18@sha256:${"0".repeat(63)}\n`],
  ])("in %s are never overlooked: %j", (name, text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), text);
    expect(() => imageReferences(folder)).toThrow(`${name} names an image in a form`);
  });
});

test.each([
  ["sqlite", undefined],
  [
    "postgres",
    [{ "dependency-name": "postgres", "update-types": ["version-update:semver-major"] }],
  ],
])(
  "Dependabot renews the images of a bot on %s, but no new major version of its database",
  async (store, ignored) => {
    const cwd = await temporaryDirectory();
    const argv = ["bot", "--store", store, "--no-install", "--no-git"];
    expect((await scaffold(argv, { cwd })).code).toBe(0);
    const { updates } = parse(readFileSync(join(cwd, "bot/.github/dependabot.yml"), "utf8"));
    const weekly = { directory: "/", schedule: { interval: "weekly" } };
    expect(updates).toContainEqual({ "package-ecosystem": "docker", ...weekly });
    expect(updates).toContainEqual({
      "package-ecosystem": "docker-compose",
      ...weekly,
      ...(ignored !== undefined && { ignore: ignored }),
    });
  },
);

describe("scripts/images", () => {
  test("pins each image, renews it later, and leaves examples and other lines alone", () => {
    const folder = copyOfTemplates(temporaryFolder());
    const before = readFileSync(join(folder, "starter/Dockerfile"), "utf8");
    const asked: string[] = [];
    const pin = (digit: string) =>
      pinImages(folder, {
        digestOf: (image) => {
          asked.push(image);
          return digest(digit);
        },
      });
    expect(pin("1").length).toBeGreaterThan(4);
    expect(asked).not.toContainEqual(expect.stringContaining("example.org"));
    const pinned = shown(folder);
    expect(pinned).toContain(`starter/compose.yaml caddy:2-alpine@${digest("1")}`);
    expect(pinned).toContain(`stores/postgres/compose.dev.yaml postgres:18@${digest("1")}`);
    expect(pinned.filter((line) => !line.includes("@"))).toEqual([
      "operations/kubernetes/postgres.yaml registry.example.org/my-bot:1.0.0",
      "operations/kubernetes/sqlite.yaml registry.example.org/my-bot:1.0.0",
    ]);
    const after = readFileSync(join(folder, "starter/Dockerfile"), "utf8");
    expect(after).toContain(`\nFROM node:24-slim@${digest("1")} AS build\n`);
    const withoutDigests = (text: string) => text.replace(/@sha256:[0-9a-f]+/g, "");
    expect(withoutDigests(after)).toBe(withoutDigests(before));

    expect(pin("1")).toEqual([]);
    expect(pin("2").length).toBeGreaterThan(4);
    expect(shown(folder)).toEqual(pinned.map((line) => line.replace(digest("1"), digest("2"))));
  });

  test("asks docker once for each image, and --check changes nothing", () => {
    const scratch = temporaryFolder();
    const folder = copyOfTemplates(scratch);
    const env = fakeDocker(scratch, digest("a"));
    const before = shown(folder);
    const checked = run(["--check", "--folder", folder], env);
    expect(checked).toMatchObject({ status: 1, stderr: "" });
    expect(checked.stdout).toContain(`caddy:2-alpine@${digest("a")} is not what it names`);
    expect(shown(folder)).toEqual(before);

    writeFileSync(join(scratch, "asked"), "");
    expect(run(["--folder", folder], env)).toMatchObject({ status: 0, stderr: "" });
    const asked = readFileSync(join(scratch, "asked"), "utf8").trim().split("\n");
    expect(asked.toSorted()).toEqual([
      "caddy:2-alpine",
      "debian:12-slim",
      "node:24-slim",
      "postgres:18",
    ]);
    expect(run(["--check", "--folder", folder], env)).toMatchObject({ status: 0, stderr: "" });
  });

  test("writes nothing but digests", () => {
    const scratch = temporaryFolder();
    const folder = copyOfTemplates(scratch);
    const before = shown(folder);
    const { status, stderr } = run(["--folder", folder], fakeDocker(scratch, "latest"));
    expect(status).toBe(1);
    expect(stderr).toContain('docker returned "latest" instead of the digest of');
    expect(shown(folder)).toEqual(before);
  });
});

describe("the commands of docs/deploy/docker.md", () => {
  const block = documentedBlock("docs/deploy/docker.md", "pin");

  test("pin and renew the images of a bot", () => {
    const folder = copyOfTemplates(temporaryFolder());
    const dir = join(folder, "starter");
    cpSync(join(folder, "stores/postgres/compose.dev.yaml"), join(dir, "compose.dev.yaml"));
    const images = imageReferences(dir).map(({ image }) => image);
    for (const digit of ["a", "b"]) {
      const env = fakeDocker(temporaryFolder(), digest(digit));
      execFileSync("sh", ["-euc", block], { cwd: dir, env });
      expect(imageReferences(dir)).toEqual(
        images.map((image) => expect.objectContaining({ image, digest: digest(digit) })),
      );
    }
  });

  test("change nothing if docker fails", () => {
    const dir = join(copyOfTemplates(temporaryFolder()), "starter");
    const before = shown(dir);
    const scratch = temporaryFolder();
    mkdirSync(join(scratch, "bin"));
    writeFileSync(join(scratch, "bin/docker"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const env = { ...process.env, PATH: `${join(scratch, "bin")}:${process.env.PATH}` };
    spawnSync("sh", ["-euc", block], { cwd: dir, env });
    expect(shown(dir)).toEqual(before);
  });
});
