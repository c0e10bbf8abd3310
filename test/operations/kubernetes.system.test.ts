import { beforeAll, expect, test } from "vitest";
import { INSTALL_TIMEOUT_MS, installTools } from "../../tools/install.ts";
import { typeErrors } from "../support/type-errors.ts";
import { Manifest, manifestFiles, type Resource, withMetrics, workloads } from "./kubernetes.ts";

let modules: string;

beforeAll(async () => {
  modules = await installTools();
}, INSTALL_TIMEOUT_MS);

/** Type-checks the resources as literals, so that unknown fields are errors too. Returns the compiler's errors. */
async function complaintsAbout(manifests: readonly Manifest[]): Promise<string> {
  const resources = manifests.flatMap((manifest) => manifest.resources);
  const literals = resources.map(
    (resource, index) =>
      `export const resource${index}: ${typeOf(resource)} = ${JSON.stringify(resource, null, 2)};\n`,
  );
  return await typeErrors({ "resources.ts": literals.join("\n") }, { modules });
}

function typeOf({ kind, apiVersion }: Resource): string {
  const module = apiVersion === "v1" ? "core/v1" : apiVersion.replace(".k8s.io", "");
  return `import("kubernetes-types/${module}.js").${kind}`;
}

test("Kubernetes has every field of the manifests, with these types", async () => {
  const manifests = [
    ...manifestFiles.map((name) => new Manifest(name)),
    ...workloads.map((name) => new Manifest(name, withMetrics)),
  ];
  expect(await complaintsAbout(manifests)).toBe("");
});

test("it refuses unknown and misplaced fields, other types and other versions", async () => {
  const changes: readonly (readonly [string, string])[] = [
    ["failureThreshold: 60", "failureTreshold: 60"],
    ["  replicas: 1\n", "  replicas: 1\n  strategy: {}\n"],
    ["periodSeconds: 2\n", "periodSeconds: often\n"],
    ["networking.k8s.io/v1\n", "networking.k8s.io/v1beta1\n"],
  ];
  const manifests = changes.map(
    ([from, to]) => new Manifest("sqlite.yaml", (text) => text.replace(from, to)),
  );
  const complaints = await complaintsAbout(manifests);
  for (const complaint of ["failureTreshold", "strategy", "to type 'number'", "v1beta1"]) {
    expect(complaints).toContain(complaint);
  }
});
