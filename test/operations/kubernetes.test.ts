import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { variables } from "../faces/bot.ts";
import { root } from "./code.ts";
import { Manifest, manifestFiles, withMetrics, workloads } from "./kubernetes.ts";
import { problemsOf } from "./kubernetes-problems.ts";

test("there is one file for each store, and the Secret", () => {
  expect(manifestFiles).toEqual([workloads[0], "secret.example.yaml", workloads[1]]);
});

test.each(workloads)("%s agrees with the bot and the Dockerfile", (name) => {
  expect(problemsOf(new Manifest(name))).toEqual([]);
});

test("what is mounted and who runs it are as in the starter's Dockerfile", () => {
  const dockerfile = readFileSync(join(root, "templates/starter/Dockerfile"), "utf8");
  expect(dockerfile).toContain("WORKDIR /bot\n");
  // In the official images, the user `node` has the id 1000.
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
  ["sqlite.yaml", "PeriodSeconds: 30", "PeriodSeconds: 18", "the bot has its time to stop"],
  [
    "sqlite.yaml",
    "- name: tmp\n          emptyDir",
    "- name: temp\n          emptyDir",
    "what is mounted is there",
  ],
  ["postgres.yaml", 'value: "5000"', 'value: "22000"', "the bot has its time to stop"],
  ["postgres.yaml", "name: DRAIN_MS", "name: DRAIN", "deliveries end before the bot does"],
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

test.each(workloads)("%s serves metrics with the lines that are commented out", (name) => {
  const manifest = new Manifest(name, withMetrics);
  expect(problemsOf(manifest)).toEqual([]);
  const port = Number(manifest.env("METRICS_PORT"));
  expect(manifest.env("METRICS_HOST")).toBe("0.0.0.0");
  expect(manifest.bot.ports?.slice(1)).toEqual([{ name: "metrics", containerPort: port }]);
  const [, prometheus] = manifest.find("NetworkPolicy")?.spec?.ingress ?? [];
  expect(prometheus?.ports).toEqual([{ port: "metrics" }]);
  expect(prometheus?.from).toHaveLength(1);
});

test("the Secret has variables that there are, and no value that is secret", () => {
  const { stringData = {} } = new Manifest("secret.example.yaml").find("Secret") ?? {};
  const known: readonly string[] = [...variables, "PGPASSWORD"];
  expect(Object.keys(stringData).filter((name) => !known.includes(name))).toEqual([]);
  expect(stringData["SERVICE_API_KEY"]).toBe("");
});
