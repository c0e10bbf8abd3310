import { setTimeout as wait } from "node:timers/promises";
import type { Container, Manifest, PodSpec, Probe } from "../../operations/kubernetes.ts";
import { reservePort } from "../../support/reserve-port.ts";
import type { Docker } from "../engine/docker.ts";
import type { State } from "../support/container.ts";

const DEFAULTS = { periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3 } as const;

const READY_TIMEOUT_MS = 300_000;
const LOOK_INTERVAL_MS = 100;

export interface PodOptions {
  readonly name: string;
  readonly image: string;
  readonly secret: string;
  /** An additional network, such as the database's. */
  readonly network: string | undefined;
}

/**
 * Runs a container as its manifest describes, with a kubelet's probes, restarts and termination. It has no scheduler,
 * Service or Ingress.
 */
export class Pod {
  readonly name: string;
  readonly url: string;
  /** True if a Service would send deliveries to this pod. */
  isReady = false;
  /** Number of restarts caused by a failed probe. */
  restarts = 0;
  readonly #docker: Docker;
  readonly #pod: PodSpec;
  readonly #bot: Container;
  readonly #ended = new AbortController();
  #life: Promise<void> = Promise.resolve();

  private constructor(docker: Docker, manifest: Manifest, name: string, url: string) {
    this.#docker = docker;
    this.#pod = manifest.pod;
    this.#bot = manifest.bot;
    this.name = name;
    this.url = url;
  }

  static async start(docker: Docker, manifest: Manifest, options: PodOptions): Promise<Pod> {
    const { name, image, secret, network } = options;
    const port = await reservePort();
    const inside = manifest.bot.ports?.[0]?.containerPort;
    const publish = ["--publish", `127.0.0.1:${port}:${inside}`];
    const volumes = await volumeFlags(docker, manifest, name);
    // A pod restarts a container that exits.
    const always = ["--restart", "always"];
    await docker.run(
      ...["create", "--name", name, ...always, "--env-file", secret, ...publish],
      ...volumes,
      ...[...confinementOf(manifest), ...environmentOf(manifest), image],
    );
    if (network !== undefined) await docker.run("network", "connect", network, name);
    await docker.run("start", name);
    const pod = new Pod(docker, manifest, name, `http://127.0.0.1:${port}`);
    pod.#life = pod.#live();
    return pod;
  }

  /**
   * Waits until `holds` returns true.
   *
   * @throws after the timeout, or if the pod was deleted
   */
  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!holds()) {
      if (performance.now() > deadline) {
        const log = (await this.#docker.logs(this.name)).slice(-20).join("\n");
        throw new Error(`${this.name} is not ${what}:\n${log}`);
      }
      await wait(LOOK_INTERVAL_MS);
    }
  }

  ownRestarts(): Promise<number> {
    return this.#docker.inspect<number>(this.name, "json .RestartCount");
  }

  /**
   * Polls the readiness endpoint until the status is no longer 200. Resolves to the new status, or to `undefined` if
   * there is no response.
   */
  async untilUnready(): Promise<number | undefined> {
    for (;;) {
      const status = await this.#statusOf(this.#bot.readinessProbe);
      if (status !== 200) return status;
      await wait(LOOK_INTERVAL_MS);
    }
  }

  /** Deletes the pod as a kubelet does. Resolves to its container's final state, and the time it took. */
  async terminate(): Promise<State & { readonly tookMs: number }> {
    const started = performance.now();
    this.#ended.abort();
    this.isReady = false;
    await this.#stop();
    const tookMs = performance.now() - started;
    await this.#life;
    return { ...(await this.#docker.inspect<State>(this.name, "json .State")), tookMs };
  }

  /** Removes the container. A claim's volume stays, as in a cluster. */
  async remove(): Promise<void> {
    this.#ended.abort();
    await this.#docker.run("rm", "--force", this.name).catch(() => undefined);
    await this.#life;
  }

  async #live(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      if (await this.#succeeds(this.#bot.startupProbe)) {
        const life = new AbortController();
        const readiness = this.#watchReadiness(life.signal);
        await this.#fails(this.#bot.livenessProbe);
        life.abort();
        await readiness;
      }
      if (this.#ended.signal.aborted) return;
      await this.#stop();
      await this.#docker.run("start", this.name);
      this.restarts++;
    }
  }

  async #succeeds(probe: Probe | undefined): Promise<boolean> {
    const { periodSeconds, failureThreshold } = { ...DEFAULTS, ...probe };
    for (let failures = 0; failures < failureThreshold; failures++) {
      if (await this.#ask(probe)) return true;
      if (!(await this.#pause(periodSeconds))) return false;
    }
    return false;
  }

  async #fails(probe: Probe | undefined): Promise<void> {
    const { periodSeconds, failureThreshold } = { ...DEFAULTS, ...probe };
    for (let failures = 0; failures < failureThreshold; ) {
      failures = (await this.#ask(probe)) ? 0 : failures + 1;
      if (failures < failureThreshold && !(await this.#pause(periodSeconds))) return;
    }
  }

  async #watchReadiness(life: AbortSignal): Promise<void> {
    const probe = this.#bot.readinessProbe;
    const { periodSeconds, failureThreshold } = { ...DEFAULTS, ...probe };
    const over = AbortSignal.any([life, this.#ended.signal]);
    for (let failures = 0; !over.aborted; ) {
      failures = (await this.#ask(probe)) ? 0 : failures + 1;
      if (failures === 0) this.isReady = true;
      if (failures >= failureThreshold) this.isReady = false;
      await this.#pause(periodSeconds, over);
    }
    this.isReady = false;
  }

  async #ask(probe: Probe | undefined): Promise<boolean> {
    return (await this.#statusOf(probe)) === 200;
  }

  async #statusOf(probe: Probe | undefined): Promise<number | undefined> {
    const { timeoutSeconds } = { ...DEFAULTS, ...probe };
    const signal = AbortSignal.timeout(timeoutSeconds * 1_000);
    try {
      const response = await fetch(`${this.url}${probe?.httpGet?.path}`, { signal });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return undefined;
    }
  }

  async #pause(seconds: number, signal: AbortSignal = this.#ended.signal): Promise<boolean> {
    return await wait(seconds * 1_000, true, { signal }).catch(() => false);
  }

  async #stop(): Promise<void> {
    const seconds = this.#pod.terminationGracePeriodSeconds ?? 30;
    await this.#docker.run("stop", "--time", String(seconds), this.name);
  }
}

/** The manifest's variables override those from the Secret. */
function environmentOf({ bot }: Manifest): string[] {
  return (bot.env ?? []).flatMap(({ name, value }) => ["--env", `${name}=${value}`]);
}

function confinementOf({ pod, bot }: Manifest): string[] {
  const { runAsUser, runAsGroup, fsGroup, seccompProfile } = pod.securityContext ?? {};
  const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } =
    bot.securityContext ?? {};
  const { drop = [] } = (capabilities ?? {}) as { readonly drop?: readonly string[] };
  const memory = bot.resources?.limits?.["memory"];
  const cpu = bot.resources?.limits?.["cpu"];
  return [
    ...["--user", `${runAsUser}:${runAsGroup}`, "--group-add", String(fsGroup)],
    ...(readOnlyRootFilesystem === true ? ["--read-only"] : []),
    ...(allowPrivilegeEscalation === false ? ["--security-opt", "no-new-privileges"] : []),
    // The engine applies the runtime's default profile unless it is disabled.
    ...(seccompProfile?.type === "RuntimeDefault" ? [] : ["--security-opt", "seccomp=unconfined"]),
    ...drop.flatMap((name) => ["--cap-drop", name]),
    ...(memory === undefined ? [] : ["--memory", memory.replace("Mi", "m")]),
    ...(cpu === undefined ? [] : ["--cpus", cpu]),
  ];
}

/** Returns the flags for volumes. An emptyDir is in memory here; a claim is a volume owned by fsGroup. */
async function volumeFlags(
  docker: Docker,
  { pod, bot }: Manifest,
  name: string,
): Promise<string[]> {
  const flags: string[] = [];
  for (const { name: volume, mountPath } of bot.volumeMounts ?? []) {
    if (pod.volumes?.some((each) => each.name === volume && each.emptyDir !== undefined)) {
      flags.push("--tmpfs", `${mountPath}:mode=1777`);
      continue;
    }
    const claim = `type=volume,source=${name}-${volume},volume-nocopy`;
    const group = `chgrp ${pod.securityContext?.fsGroup} /claim && chmod 2775 /claim`;
    const mount = ["--mount", `${claim},target=/claim`];
    await docker.run("run", "--rm", ...mount, "debian:12-slim", "sh", "-c", group);
    flags.push("--mount", `${claim},target=${mountPath}`);
  }
  return flags;
}
