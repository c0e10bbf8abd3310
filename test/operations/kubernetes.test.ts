import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { variables } from "../faces/bot.ts";
import { operations, root } from "./code.ts";
import { kinds, Manifest } from "./kubernetes.ts";
import { problemsOf } from "./kubernetes-problems.ts";

const run = promisify(execFile);
const files = readdirSync(join(operations, "kubernetes")).sort();
const workloads = ["postgres.yaml", "sqlite.yaml"];

test("there is one file for each store, and the Secret", () => {
  expect(files).toEqual([workloads[0], "secret.example.yaml", workloads[1]]);
});

test.each(workloads)("%s fits the bot, the Dockerfile and itself", (name) => {
  expect(problemsOf(new Manifest(name))).toEqual([]);
});

test("what is mounted and who runs it are as in the starter's Dockerfile", () => {
  const dockerfile = readFileSync(join(root, "templates/starter/Dockerfile"), "utf8");
  expect(dockerfile).toContain("WORKDIR /bot\n");
  // That of `node` in the official images.
  expect(dockerfile).toContain("USER node\n");
  for (const name of workloads) {
    expect(new Manifest(name).pod.securityContext).toMatchObject({
      runAsUser: 1000,
      fsGroup: 1000,
    });
  }
});

test.each([
  ["sqlite.yaml", "replicas: 1", "replicas: 2", "a file has one pod"],
  ["sqlite.yaml", "mountPath: /bot/data", "mountPath: /data", "the file is where the disk is"],
  ["sqlite.yaml", "[ReadWriteOnce]", "[ReadWriteMany]", "the file is on a disk of its own"],
  ["sqlite.yaml", "PeriodSeconds: 30", "PeriodSeconds: 20", "the bot has its time to stop"],
  [
    "sqlite.yaml",
    "- name: tmp\n          emptyDir",
    "- name: temp\n          emptyDir",
    "what is mounted is there",
  ],
  [
    "postgres.yaml",
    "maxUnavailable: 0",
    "maxUnavailable: 1",
    "an update ends no pod before there is another",
  ],
  ["postgres.yaml", "path: /webhook", "path: /", "the webhook alone is public"],
  ["postgres.yaml", "path: /readyz", "path: /healthz", "a bot that is not ready gets nothing"],
  ["postgres.yaml", 'value: "3000"', 'value: "8080"', "the bot listens where its port is"],
  [
    "postgres.yaml",
    "targetPort: http",
    "targetPort: web",
    "the Service leads to the container's port",
  ],
  [
    "postgres.yaml",
    "readOnlyRootFilesystem: true",
    "readOnlyRootFilesystem: false",
    "its root cannot be written to",
  ],
])("%s would not fit with another %s", (name, from, to, problem) => {
  const changed = new Manifest(name, (text) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  });
  expect(problemsOf(changed)).toEqual([problem]);
});

test.each(workloads)(
  "%s serves metrics once what stands in comments does not",
  async (name) => {
    const manifest = new Manifest(name, (text) => text.replaceAll(/^( *)# (- | {2})/gm, "$1$2"));
    expect(problemsOf(manifest)).toEqual([]);
    const port = Number(manifest.env("METRICS_PORT"));
    expect(manifest.env("METRICS_HOST")).toBe("0.0.0.0");
    expect(manifest.bot.ports?.slice(1)).toEqual([{ name: "metrics", containerPort: port }]);
    const [, prometheus] = manifest.find("NetworkPolicy")?.spec?.ingress ?? [];
    expect(prometheus?.ports).toEqual([{ port: "metrics" }]);
    expect(prometheus?.from).toHaveLength(1);
    expect(await typeErrors([manifest])).toBe("");
  },
  60_000,
);

test("the Secret has variables that there are, and no value that is secret", () => {
  const { stringData = {} } = new Manifest("secret.example.yaml").find("Secret") ?? {};
  const known: readonly string[] = [...Object.values(variables), "PGPASSWORD"];
  expect(Object.keys(stringData).filter((name) => !known.includes(name))).toEqual([]);
  expect(stringData["SERVICE_API_KEY"]).toBe("");
});

test("Kubernetes knows every field, with values of these types", { timeout: 60_000 }, async () => {
  expect(await typeErrors(files.map((name) => new Manifest(name)))).toBe("");
});

test.each([
  [
    "a field that it does not know",
    "failureThreshold: 60",
    "failureTreshold: 60",
    "failureTreshold",
  ],
  ["a field in another place", "  replicas: 1\n", "  replicas: 1\n  strategy: {}\n", "strategy"],
  [
    "a value of another type",
    "periodSeconds: 2\n",
    "periodSeconds: often\n",
    "'string' is not assignable to type 'number'",
  ],
  [
    "a version that there is not",
    "networking.k8s.io/v1\n",
    "networking.k8s.io/v1beta1\n",
    "v1beta1",
  ],
])("it would not take %s", { timeout: 60_000 }, async (_, from, to, complaint) => {
  const changed = new Manifest("sqlite.yaml", (text) => text.replace(from, to));
  expect(await typeErrors([changed])).toContain(complaint);
});

/** What the compiler says about the resources as literals of their types, in which no field may be unknown. */
async function typeErrors(manifests: readonly Manifest[]): Promise<string> {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache", "kubernetes-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const resources = manifests.flatMap((manifest) => manifest.resources);
  const lines = resources.map((resource, index) => {
    const type = `import("kubernetes-types/${kinds[resource.kind]}.js").${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource, null, 2)};\n`;
  });
  writeFileSync(join(folder, "resources.ts"), lines.join("\n"));
  const compilerOptions = { isolatedDeclarations: false, declaration: false };
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch((error) => error);
  return stdout;
}
