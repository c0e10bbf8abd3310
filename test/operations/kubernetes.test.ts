import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { variables } from "../faces/bot.ts";
import { defaults, longestStopMs, root } from "./code.ts";
import { Manifest, manifestFiles, withMetrics, workloads } from "./kubernetes.ts";

/** Labels by which the other resources find the pods. */
const labels = { "app.kubernetes.io/name": "my-bot" };

const http = (path: string) => ({ httpGet: { path, port: "http" } });

const drainMs = (manifest: Manifest) => Number(manifest.env("DRAIN_MS") ?? defaults.drainMs);

/** Expects what every pod needs, with and without metrics. */
function expectPod(manifest: Manifest): void {
  const { pod, bot } = manifest;
  expect(pod).toMatchObject({
    automountServiceAccountToken: false,
    // A Service named `host` would set variables such as HOST_PORT.
    enableServiceLinks: false,
    // In the official images, the user `node` has the id 1000.
    securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
    volumes: [{ name: "tmp", emptyDir: {} }],
  });
  expect(pod.securityContext?.seccompProfile).toEqual({ type: "RuntimeDefault" });
  expect(bot.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
  expect(bot).toMatchObject({
    envFrom: [{ secretRef: { name: "my-bot" } }],
    startupProbe: http("/healthz"),
    livenessProbe: http("/healthz"),
    readinessProbe: http("/readyz"),
    resources: { limits: { memory: expect.any(String) } },
  });
  expect(bot.ports?.[0]).toEqual({ name: "http", containerPort: defaults.port });
  expect(manifest.env("PORT")).toBe(String(defaults.port));
  expect(manifest.env("HOST")).toBe("0.0.0.0");
  const { periodSeconds = 10, failureThreshold = 3 } = bot.startupProbe ?? {};
  expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(60);
  const stopMs = (pod.terminationGracePeriodSeconds ?? 0) * 1000;
  expect(stopMs).toBeGreaterThan(longestStopMs(drainMs(manifest)));
}

test("there is one file for each store, and the Secret", () => {
  expect(manifestFiles).toEqual([workloads[0], "secret.example.yaml", workloads[1]]);
});

test.each(workloads)("%s agrees with the bot and the Dockerfile", (name) => {
  expectPod(new Manifest(name));
  const dockerfile = readFileSync(join(root, "templates/starter/Dockerfile"), "utf8");
  expect(dockerfile).toContain("WORKDIR /bot\n");
  expect(dockerfile).toContain("USER node\n");
});

test.each(workloads)("%s leads only deliveries to the bot, from the ingress controller", (name) => {
  const manifest = new Manifest(name);
  expect(manifest.find("Service")).toMatchObject({
    metadata: { name: "my-bot" },
    spec: { selector: labels, ports: [{ name: "http", targetPort: "http" }] },
  });
  const service = { name: "my-bot", port: { name: "http" } };
  const path = { path: defaults.webhookPath, pathType: "Exact", backend: { service } };
  expect(manifest.find("Ingress")).toMatchObject({
    spec: { rules: [{ http: { paths: [path] } }] },
  });
  expect(manifest.find("NetworkPolicy")).toMatchObject({
    spec: {
      podSelector: { matchLabels: labels },
      ingress: [{ from: [expect.anything()], ports: [{ port: "http" }] }],
    },
  });
});

const template = { metadata: { labels } };

test("sqlite.yaml runs one pod, whose file is on a disk of its own", () => {
  const manifest = new Manifest("sqlite.yaml");
  const claim = { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } };
  expect(manifest.find("StatefulSet")).toMatchObject({
    spec: {
      ...{ replicas: 1, selector: { matchLabels: labels }, template },
      volumeClaimTemplates: [claim],
    },
  });
  expect(manifest.find("Deployment")).toBeUndefined();
  // With a single pod, a disruption budget would block every drain.
  expect(manifest.find("PodDisruptionBudget")).toBeUndefined();
  expect(manifest.env("DATABASE_URL")).toBe("file:data/bot.db");
  expect(manifest.bot.volumeMounts).toEqual([
    { name: "data", mountPath: "/bot/data" },
    { name: "tmp", mountPath: "/tmp" },
  ]);
});

test("postgres.yaml keeps a pod in service during updates and drains, and gives deliveries time to end", () => {
  const manifest = new Manifest("postgres.yaml");
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0 } };
  expect(manifest.find("Deployment")).toMatchObject({
    spec: { replicas: 2, strategy, selector: { matchLabels: labels }, template },
  });
  expect(manifest.find("StatefulSet")).toBeUndefined();
  expect(manifest.find("PodDisruptionBudget")).toMatchObject({
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  });
  expect(manifest.env("DATABASE_URL")).toMatch(/^postgres:\/\//);
  expect(drainMs(manifest)).toBeGreaterThan(0);
  expect(manifest.bot.volumeMounts).toEqual([{ name: "tmp", mountPath: "/tmp" }]);
});

test.each(workloads)("%s serves metrics with the lines that are commented out", (name) => {
  const manifest = new Manifest(name, withMetrics);
  expectPod(manifest);
  const port = Number(manifest.env("METRICS_PORT"));
  expect(manifest.env("METRICS_HOST")).toBe("0.0.0.0");
  expect(manifest.bot.ports?.slice(1)).toEqual([{ name: "metrics", containerPort: port }]);
  const prometheus = { from: [expect.anything()], ports: [{ port: "metrics" }] };
  expect(manifest.find("NetworkPolicy")).toMatchObject({
    spec: { ingress: [expect.anything(), prometheus] },
  });
});

test("the Secret has variables that there are, and no value that is secret", () => {
  const { stringData = {} } = new Manifest("secret.example.yaml").find("Secret") ?? {};
  const known: readonly string[] = [...variables, "PGPASSWORD"];
  expect(Object.keys(stringData).filter((name) => !known.includes(name))).toEqual([]);
  expect(stringData["SERVICE_API_KEY"]).toBe("");
});
