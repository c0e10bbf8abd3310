import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { Manifest } from "../../operations/kubernetes.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS } from "../../support/scaffolded.ts";
import { PlatformProcess } from "../../support/world/platform-process.ts";
import { ComposeProject } from "../support/compose.ts";
import { docker, hostAddress, withEngine } from "../support/given.ts";
import { PostgresContainer } from "../support/postgres-container.ts";
import { Pod } from "./pod.ts";

const IMAGE = "service-bot-test/kubernetes";

/** Prefix of the containers', networks' and volumes' names. */
const NAME = "kubernetes-pod";
const DATABASE = "kubernetes";

/**
 * Delay after a pod's first 503, in ms. Shorter than DRAIN_MS, because a cluster still sends deliveries at this point.
 */
const LATE_MS = 2_500;

withEngine("a container as the Kubernetes manifests describe it", () => {
  let folder: string;
  let project: ComposeProject;
  let database: PostgresContainer | undefined;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "kubernetes-"));
    project = await ComposeProject.scaffold(docker, folder, "kubernetes", ["--store", "postgres"]);
    await docker.run("build", "--tag", IMAGE, project.dir);
    await removeBot();
  }, SCAFFOLD_TIMEOUT_MS + 120_000);

  afterAll(async () => {
    await removeBot();
    await database?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function removeBot(): Promise<void> {
    await docker.succeeds("rm", "--force", "--volumes", NAME);
    await docker.succeeds("volume", "rm", `${NAME}-data`);
  }

  async function start(manifest: Manifest) {
    const platform = await startPlatform();
    return { pod: await startPod(manifest, platform), platform };
  }

  async function startPlatform(): Promise<PlatformProcess> {
    const host = await hostAddress();
    const port = String(await reservePort());
    const address = ["--host", host, "--port", port];
    return await PlatformProcess.start({ flags: address });
  }

  /** Resolves once the new pod is ready and the webhook points to it. */
  async function startPod(manifest: Manifest, platform: PlatformProcess): Promise<Pod> {
    project.configure({
      ...{ SERVICE_BASE_URL: platform.url, SERVICE_API_KEY: platform.apiKey },
      SERVICE_WEBHOOK_SECRET: platform.webhookSecret,
      ...(database === undefined ? {} : { PGPASSWORD: database.password }),
    });
    const secret = join(project.dir, ".env");
    const started = performance.now();
    const network = database?.network;
    const pod = await Pod.start(docker, manifest, { name: NAME, image: IMAGE, secret, network });
    onTestFinished(() => pod.remove());
    await pod.until("ready", () => pod.isReady);
    console.info(`the pod was ready after ${seconds(started)}`);
    await platform.deliverTo(pod.url);
    return pod;
  }

  /**
   * Terminates a pod. Ada sends a message LATE_MS after the pod's readiness probe has failed. Resolves to the probe's
   * status, the message, the status of its delivery, and how the pod ended.
   */
  async function endWithMessage(pod: Pod, platform: PlatformProcess, text: string) {
    const ending = pod.terminate();
    const readiness = await pod.untilUnready();
    await wait(LATE_MS);
    const written = await platform.write("ada", text);
    const { status } = await platform.delivery(written);
    return { ...written, readiness, status, ended: await ending };
  }

  test("on SQLite it is confined, is replaced when it hangs, and exits within its grace period", async () => {
    const manifest = new Manifest("sqlite.yaml");
    const { pod, platform } = await start(manifest);
    const first = await platform.write("ada", "in a pod");
    await platform.says("Hi Ada! You wrote: in a pod");

    const status = await docker.run("exec", NAME, "cat", "/proc/1/status");
    const { runAsUser, fsGroup } = manifest.pod.securityContext ?? {};
    expect(status).toMatch(new RegExp(`^Uid:\\s+${runAsUser}\\s`, "m"));
    expect(status).toMatch(new RegExp(`^Groups:\\s.*\\b${fsGroup}\\b`, "m"));
    expect(status).toMatch(/^CapBnd:\s+0+$/m);
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(await docker.succeeds("exec", NAME, "touch", "/bot/x")).toBe(false);
    for (const { mountPath } of manifest.bot.volumeMounts ?? []) {
      expect(await docker.succeeds("exec", NAME, "touch", `${mountPath}/x`)).toBe(true);
    }
    const { Memory } = await docker.inspect<{ Memory: number }>(NAME, "json .HostConfig");
    expect(`${Memory / 1024 ** 2}Mi`).toBe(manifest.bot.resources?.limits?.["memory"]);

    // A stopped process responds to no probe and ignores SIGTERM.
    const hanging = performance.now();
    await docker.run("kill", "--signal", "STOP", NAME);
    await pod.until("out of service", () => !pod.isReady);
    console.info(`a pod that hangs was out of service after ${seconds(hanging)}`);
    await platform.write("ada", "while it hangs");
    await pod.until("replaced", () => pod.restarts === 1 && pod.isReady);
    console.info(`a pod that hangs was replaced after ${seconds(hanging)}`);
    await platform.says("Hi Ada! You wrote: while it hangs");
    await platform.control.deliver({ eventIds: [first.eventId] });

    const ended = await pod.terminate();
    console.info(`the pod ended after ${seconds(performance.now() - ended.tookMs)}`);
    expect(ended).toMatchObject({ ExitCode: 0, OOMKilled: false });
    expect(ended.tookMs).toBeLessThan((manifest.pod.terminationGracePeriodSeconds ?? 0) * 1_000);
    expect(await platform.answers(first.conversationId)).toEqual([
      "Hi Ada! You wrote: in a pod",
      "Hi Ada! You wrote: while it hangs",
    ]);
  }, 400_000);

  test("on PostgreSQL it is out of service, and not restarted, while the database is away", async () => {
    database = await PostgresContainer.start(docker, DATABASE);
    const manifest = new Manifest("postgres.yaml");
    const { pod, platform } = await start(manifest);
    await platform.write("ada", "into PostgreSQL");
    await platform.says("Hi Ada! You wrote: into PostgreSQL");

    const restarts = await pod.ownRestarts();
    const away = performance.now();
    await docker.run("stop", database.name);
    await pod.until("out of service", () => !pod.isReady);
    console.info(`without its database the pod was out of service after ${seconds(away)}`);
    const back = performance.now();
    await docker.run("start", database.name);
    await pod.until("ready", () => pod.isReady);
    console.info(`with its database back the pod was ready after ${seconds(back)}`);
    expect(pod.restarts).toBe(0);
    expect(await pod.ownRestarts()).toBe(restarts);

    // The pod accepts deliveries until the cluster reroutes them, and leaves their events to other pods.
    const last = await endWithMessage(pod, platform, "at the end");
    const { ended } = last;
    expect(last).toMatchObject({ readiness: 503, status: 200 });
    const before = ["Hi Ada! You wrote: into PostgreSQL"];
    expect(await platform.answers(last.conversationId)).toEqual(before);
    console.info(`the pod ended after ${seconds(performance.now() - ended.tookMs)}`);
    expect(ended).toMatchObject({ ExitCode: 0 });
    expect(ended.tookMs).toBeLessThan((manifest.pod.terminationGracePeriodSeconds ?? 0) * 1_000);

    await pod.remove();
    const next = await startPod(new Manifest("postgres.yaml", withoutDrain), platform);
    await platform.says("Hi Ada! You wrote: at the end");
    const refused = await endWithMessage(next, platform, "too late");
    expect(refused.status).not.toBe(200);
    expect(await platform.answers(last.conversationId)).toEqual([
      ...before,
      "Hi Ada! You wrote: at the end",
    ]);
  }, 400_000);
});

function withoutDrain(text: string): string {
  const changed = text.replace(/(name: DRAIN_MS\n +value:) "\d+"/, '$1 "0"');
  expect(changed).not.toBe(text);
  return changed;
}

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
