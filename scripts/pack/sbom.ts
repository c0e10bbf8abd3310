import type { Bundled } from "./bundled.ts";

/** Scanners recognize a CycloneDX file by the end of its name. */
export const SBOM_FILE = "sbom.cdx.json";

type Owner = Pick<Bundled, "name" | "version" | "license">;

/**
 * Returns a software bill of materials of a published package: the packages that it bundles. The format is CycloneDX
 * 1.6. The text has no time and no serial number, so that unchanged sources give an unchanged package.
 *
 * @param owner the published package
 */
export function sbomOf(owner: Owner, bundled: readonly Bundled[]): string {
  const all = bundled.flatMap((each) => [each, ...each.holds]);
  // Two packages may hold the same one.
  const components = new Map(all.map((each) => [refOf(each), componentOf(each)]));
  const parents = bundled.filter(({ holds }) => holds.length > 0);
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: componentOf(owner) },
    components: [...components.values()],
    dependencies: [
      { ref: refOf(owner), dependsOn: bundled.map(refOf) },
      ...parents.map((each) => ({ ref: refOf(each), dependsOn: each.holds.map(refOf) })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function componentOf(each: Owner & Partial<Bundled>): object {
  const [name = "", group] = each.name.split("/").reverse();
  return {
    type: "library",
    "bom-ref": refOf(each),
    ...(group !== undefined && { group }),
    name,
    ...(each.version !== undefined && { version: each.version }),
    ...hashesOf(each.installed?.integrity),
    licenses: [
      /^[\w.-]+$/.test(each.license)
        ? { license: { id: each.license } }
        : { expression: each.license },
    ],
    purl: refOf(each),
  };
}

/** Hash of the package's tarball in the registry. */
function hashesOf(integrity: string | undefined): object {
  const [, base64] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  if (base64 === undefined) return {};
  return { hashes: [{ alg: "SHA-512", content: Buffer.from(base64, "base64").toString("hex") }] };
}

/** Returns a package URL, such as `pkg:npm/%40knadh/oat@0.6.1`. */
function refOf({ name, version }: Pick<Bundled, "name" | "version">): string {
  const path = name.split("/").map(encodeURIComponent).join("/");
  return `pkg:npm/${path}${version === undefined ? "" : `@${encodeURIComponent(version)}`}`;
}
