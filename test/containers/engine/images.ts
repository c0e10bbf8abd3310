import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NEWEST, nativeFolder } from "../../support/postgres/binaries.ts";
import type { Docker } from "./docker.ts";
import { CACHE } from "./engine.ts";

const SOURCES = fileURLToPath(new URL("../images/", import.meta.url));
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";
const DEBIAN = "debian:12-slim";

/** Files that Debian's slim images also omit. */
const LEFT_OUT = ["doc", "info", "locale", "man"].map(
  (name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`,
);

/** Built locally because the tests use no image registry. */
interface Base {
  readonly folder: string;
  readonly tag: string;
  prepare(context: string): void;
}

const bases: readonly Base[] = [
  { folder: "node", tag: "node:24-slim", prepare: addNode },
  { folder: "caddy", tag: "caddy:2-alpine", prepare: () => undefined },
  {
    folder: "postgres",
    tag: `postgres:${NEWEST}`,
    prepare: (context) => {
      const options = { recursive: true, verbatimSymlinks: true };
      cpSync(nativeFolder(), join(context, "native"), options);
    },
  },
];

/** Debian with systemd, PostgreSQL and Node. Only its own tests request it, because the build takes two minutes. */
const MACHINE: Base = {
  folder: "machine",
  tag: "service-bot-test/machine",
  prepare: () => undefined,
};

export async function makeMachineImage(docker: Docker): Promise<string> {
  await makeImage(docker, MACHINE);
  return MACHINE.tag;
}

export async function makeBaseImages(docker: Docker): Promise<void> {
  if (!(await docker.succeeds("inspect", DEBIAN))) await importDebian(docker);
  for (const base of bases) await makeImage(docker, base);
}

async function importDebian(docker: Docker): Promise<void> {
  const archive = join(CACHE, "debian.tar");
  const customize = `--customize-hook=rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/* "$1"/var/log/*`;
  const args = ["--variant=minbase", "--include=ca-certificates", ...LEFT_OUT, customize];
  execFileSync("mmdebstrap", [...args, "bookworm", archive], { stdio: "pipe" });
  await docker.run("import", archive, DEBIAN);
  rmSync(archive);
}

async function makeImage(docker: Docker, { folder, tag, prepare }: Base): Promise<void> {
  const version = versionOf(folder);
  const label = `index .Config.Labels "version"`;
  const known = await docker.inspect(tag, `json (${label})`).catch(() => undefined);
  if (known === version) return;
  const context = mkdtempSync(join(CACHE, `${folder}-`));
  try {
    cpSync(join(SOURCES, folder), context, { recursive: true });
    prepare(context);
    await docker.run("build", "--tag", tag, "--label", `version=${version}`, context);
  } finally {
    rmSync(context, { recursive: true });
  }
}

function versionOf(folder: string): string {
  const hash = createHash("sha256").update(process.version);
  const files = readdirSync(join(SOURCES, folder)).sort();
  for (const file of files) hash.update(readFileSync(join(SOURCES, folder, file)));
  return hash.digest("hex").slice(0, 16);
}

function addNode(context: string): void {
  copyFileSync(process.execPath, join(context, "node"));
  execFileSync("npm", ["install", "--prefix", join(context, "install"), "npm@11"], {
    stdio: "pipe",
  });
  cpSync(join(context, "install/node_modules/npm"), join(context, "npm"), { recursive: true });
  rmSync(join(context, "install"), { recursive: true });
  const setting = (name: string) =>
    execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim();
  const authority = setting("cafile");
  copyFileSync(
    existsSync(authority) ? authority : CERTIFICATES,
    join(context, "ca-certificates.crt"),
  );
  writeFileSync(
    join(context, "npmrc"),
    `registry=${setting("registry")}\ncafile=${CERTIFICATES}\nupdate-notifier=false\n`,
  );
}
