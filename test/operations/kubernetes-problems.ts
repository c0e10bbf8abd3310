import { isDeepStrictEqual } from "node:util";
import { defaults, longestStopMs } from "./code.ts";
import type { Manifest, Probe } from "./kubernetes.ts";

/** Returns a sentence for each part of a manifest that would fail, or that contradicts the documentation. */
export function problemsOf(manifest: Manifest): string[] {
  return [
    ...namesAndPorts(manifest),
    ...probes(manifest),
    ...stopping(manifest),
    ...rights(manifest),
    ...volumes(manifest),
    ...(manifest.env("DATABASE_URL")?.startsWith("file:") ? onePod(manifest) : manyPods(manifest)),
  ];
}

type Checks = Readonly<Record<string, boolean>>;

function failed(checks: Checks): string[] {
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

function namesAndPorts(manifest: Manifest): string[] {
  const { workload, bot } = manifest;
  const labels = workload.spec?.template.metadata?.labels;
  const service = manifest.find("Service");
  const policy = manifest.find("NetworkPolicy");
  const budget = manifest.find("PodDisruptionBudget");
  const paths = manifest.find("Ingress")?.spec?.rules?.flatMap((rule) => rule.http?.paths ?? []);
  const [path, ...morePaths] = paths ?? [];
  const [port, ...morePorts] = service?.spec?.ports ?? [];
  return failed({
    "the workload finds its pods": isDeepStrictEqual(workload.spec?.selector.matchLabels, labels),
    "the Service finds the pods": isDeepStrictEqual(service?.spec?.selector, labels),
    "the NetworkPolicy finds the pods": isDeepStrictEqual(
      policy?.spec?.podSelector.matchLabels,
      labels,
    ),
    "the PodDisruptionBudget finds the pods":
      budget === undefined || isDeepStrictEqual(budget.spec?.selector?.matchLabels, labels),
    "the bot listens where its port is": manifest.env("PORT") === String(defaults.port),
    "the container's port is the bot's": bot.ports?.[0]?.containerPort === defaults.port,
    "the bot listens to others": manifest.env("HOST") === "0.0.0.0",
    "the Service leads to the container's port":
      port?.targetPort === bot.ports?.[0]?.name && morePorts.length === 0,
    "the Ingress leads to the Service":
      path?.backend.service?.name === service?.metadata?.name &&
      path?.backend.service?.port?.name === port?.name,
    "the webhook alone is public":
      path?.path === defaults.webhookPath && path.pathType === "Exact" && morePaths.length === 0,
    "who may come in may do so at the bot's port":
      policy?.spec?.ingress?.[0]?.ports?.[0]?.port === bot.ports?.[0]?.name,
  });
}

function probes({ bot }: Manifest): string[] {
  const asks = (probe: Probe | undefined, path: string) =>
    probe?.httpGet?.path === path && probe.httpGet.port === bot.ports?.[0]?.name;
  return failed({
    "a process that lives is not ended": asks(bot.livenessProbe, "/healthz"),
    "a bot that begins has its time":
      asks(bot.startupProbe, "/healthz") &&
      (bot.startupProbe?.periodSeconds ?? 10) * (bot.startupProbe?.failureThreshold ?? 3) >= 60,
    "a bot that is not ready gets nothing": asks(bot.readinessProbe, "/readyz"),
  });
}

function stopping(manifest: Manifest): string[] {
  const seconds = manifest.pod.terminationGracePeriodSeconds ?? 0;
  return failed({
    "the bot has its time to stop": seconds * 1000 > longestStopMs(drainMs(manifest)),
  });
}

function drainMs(manifest: Manifest): number {
  return Number(manifest.env("DRAIN_MS") ?? defaults.drainMs);
}

function rights({ pod, bot }: Manifest): string[] {
  const container = bot.securityContext;
  return failed({
    "it is not root": pod.securityContext?.runAsNonRoot === true && container?.runAsUser !== 0,
    "its root cannot be written to": container?.readOnlyRootFilesystem === true,
    "it gains no rights": container?.allowPrivilegeEscalation === false,
    "it has no capabilities": isDeepStrictEqual(container?.capabilities, { drop: ["ALL"] }),
    "its system calls are filtered": pod.securityContext?.seccompProfile?.type === "RuntimeDefault",
    "it has no token of the cluster": pod.automountServiceAccountToken === false,
    // A Service named `host` would set variables such as HOST_PORT.
    "other Services set no variables": pod.enableServiceLinks === false,
    "its secrets stand elsewhere": bot.envFrom?.[0]?.secretRef?.name !== undefined,
    "it has a limit of memory": bot.resources?.limits?.["memory"] !== undefined,
  });
}

function volumes(manifest: Manifest): string[] {
  const claims = manifest.find("StatefulSet")?.spec?.volumeClaimTemplates ?? [];
  const declared = [
    ...(manifest.pod.volumes ?? []).map(({ name }) => name),
    ...claims.map(({ metadata }) => metadata?.name ?? ""),
  ];
  const mounted = (manifest.bot.volumeMounts ?? []).map(({ name }) => name);
  return failed({
    "what is mounted is there": isDeepStrictEqual([...declared].sort(), [...mounted].sort()),
    "there is room for what is temporary":
      manifest.bot.volumeMounts?.some(({ mountPath }) => mountPath === "/tmp") ?? false,
  });
}

function onePod(manifest: Manifest): string[] {
  const { spec } = manifest.find("StatefulSet") ?? {};
  const [claim] = spec?.volumeClaimTemplates ?? [];
  const mount = manifest.bot.volumeMounts?.find(({ name }) => name === claim?.metadata?.name);
  return failed({
    "a file has one pod": spec?.replicas === 1,
    "no second pod comes beside it": manifest.find("Deployment") === undefined,
    // With a single pod, a disruption budget would block every drain.
    "a single pod may be moved": manifest.find("PodDisruptionBudget") === undefined,
    "the file is on a disk of its own": isDeepStrictEqual(claim?.spec?.accessModes, [
      "ReadWriteOnce",
    ]),
    "the file is where the disk is":
      manifest.env("DATABASE_URL") === "file:data/bot.db" && mount?.mountPath === "/bot/data",
  });
}

function manyPods(manifest: Manifest): string[] {
  const { spec } = manifest.find("Deployment") ?? {};
  const update = spec?.strategy;
  return failed({
    "the bot is there while a pod is not": (spec?.replicas ?? 0) >= 2,
    "deliveries end before the bot does": drainMs(manifest) > 0,
    "an update ends no pod before there is another":
      update?.type === "RollingUpdate" && update.rollingUpdate?.maxUnavailable === 0,
    "nodes are emptied one pod at a time":
      manifest.find("PodDisruptionBudget")?.spec?.maxUnavailable === 1,
    "no pod has a disk": manifest.find("StatefulSet") === undefined,
    "the memory is in PostgreSQL": /^postgres:\/\//.test(manifest.env("DATABASE_URL") ?? ""),
  });
}
