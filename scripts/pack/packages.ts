import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { compile } from "../compile.ts";
import { alertTests } from "../operations/alert-tests.ts";
import { grafanaDashboard } from "../operations/dashboard.ts";
import { root } from "../root.ts";
import { withSiteLinks } from "../site/links.ts";
import { bundle, type Modules } from "./bundle.ts";
import { bundledPackages } from "./bundled.ts";
import { SBOM_FILE, sbomOf } from "./sbom.ts";
import { refuseTooLarge } from "./size.ts";
import { type Packed, packStage } from "./stage.ts";
import { thirdPartyNotices } from "./third-party.ts";
import { refuseUndeclared } from "./undeclared.ts";

/** The oldest Node that runs the scaffolder. Bots need a newer one, which they can install as a dependency. */
const SCAFFOLDER_NODE = ">=20.12";

export interface PackOptions {
  /** URL of the repository for the manifests, such as `https://github.com/someone/service-bot`. */
  readonly repository?: string | undefined;
}

/**
 * Packs both packages into `out`, with the same version.
 *
 * @throws {Error} if a package exceeds its size limit
 */
export async function packBoth(out: string, options: PackOptions = {}): Promise<readonly Packed[]> {
  const packed = await Promise.all([packServiceBot(out, options), packScaffolder(out, options)]);
  for (const one of packed) refuseTooLarge(one);
  return packed;
}

/** Files for bot operators. Not a template. */
const operations = join(root, "templates", "operations");

/** Packs `service-bot`: the library, the CLI, the portal, and the list of bundled packages with their licences. */
export function packServiceBot(out: string, options: PackOptions = {}): Promise<Packed> {
  return packStage(out, async (stage) => {
    const modules = await compile(join(stage, "dist"));
    // The published manifest omits development settings.
    const { devDependencies, scripts, allowScripts, ...published } = await ownManifest();
    await writeManifest(stage, published, options);
    await writeBundled(stage, published, modules);
    await writeOperations(join(stage, "operations"));
    await copyPresent(stage, ["LICENSE"]);
    for (const name of ["README.md", "CHANGELOG.md"]) {
      await writeFile(join(stage, name), withSiteLinks(await readFile(join(root, name), "utf8")));
    }
  });
}

/** Packs `create-service-bot`: a bundle without dependencies, and the templates. */
export function packScaffolder(out: string, options: PackOptions = {}): Promise<Packed> {
  return packStage(out, async (stage) => {
    const dist = join(stage, "dist");
    const modules = await bundle(join(root, "src/create/main.ts"), dist);
    await refuseUndeclared(dist, {});
    const manifest = scaffolderManifest(await ownManifest());
    await writeManifest(stage, manifest, options);
    await writeBundled(stage, manifest, modules);
    await copyPresent(stage, ["create-bot.js", "templates", "LICENSE"]);
    await rm(join(stage, "templates", basename(operations)), { recursive: true });
    await cp(join(root, "src/create/README.md"), join(stage, "README.md"));
  });
}

async function writeOperations(folder: string): Promise<void> {
  await cp(operations, folder, { recursive: true });
  await writeFile(join(folder, "alerts.test.yml"), alertTests());
  await writeFile(join(folder, "grafana-dashboard.json"), grafanaDashboard());
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly [field: string]: unknown;
}

function scaffolderManifest(own: Manifest): Manifest {
  const { version, license, type, homepage } = own;
  return {
    name: "create-service-bot",
    version,
    description:
      "Creates a bot with service-bot: a typed project with tests, a local platform and a container. npm create service-bot@latest my-bot",
    keywords: ["bot", "create-bot", "scaffold", "starter", "template", "webhook", "typescript"],
    homepage,
    license,
    type,
    engines: { node: SCAFFOLDER_NODE },
    bin: { "create-service-bot": "create-bot.js" },
    files: ["dist", "templates", "THIRD-PARTY.md", SBOM_FILE],
  };
}

async function ownManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, "package.json"), "utf8"));
}

async function writeManifest(
  stage: string,
  manifest: Manifest,
  { repository }: PackOptions,
): Promise<void> {
  const named =
    repository === undefined
      ? manifest
      : { ...manifest, repository: { type: "git", url: `git+${repository}.git` } };
  await writeFile(join(stage, "package.json"), `${JSON.stringify(named, null, 2)}\n`);
}

async function writeBundled(stage: string, manifest: Manifest, modules: Modules): Promise<void> {
  const bundled = await bundledPackages(modules);
  await writeFile(join(stage, "THIRD-PARTY.md"), thirdPartyNotices(bundled));
  await writeFile(join(stage, SBOM_FILE), sbomOf(manifest, bundled));
}

async function copyPresent(stage: string, names: readonly string[]): Promise<void> {
  const present = new Set(await readdir(root));
  for (const name of names) {
    if (present.has(name)) await cp(join(root, name), join(stage, name), { recursive: true });
  }
}
