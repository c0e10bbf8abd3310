import { isOk } from "../../support/is-ok.ts";
import { reservePort } from "../../support/reserve-port.ts";
import type { Docker } from "../engine/docker.ts";

/** In seconds, as in compose.yaml. */
export const STOP_GRACE_S = 20;

/** Flags for `docker run` that match compose.yaml, plus a limit on the number of processes. */
export const CONFINED: readonly string[] = [
  ...["--stop-timeout", String(STOP_GRACE_S)],
  ...["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"],
  ...["--security-opt", "no-new-privileges:true", "--pids-limit", "64"],
];

const READY_TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 100;

export interface ContainerOptions {
  readonly image: string;
  readonly env: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

export interface State {
  readonly Status: string;
  readonly Running: boolean;
  readonly ExitCode: number;
  readonly OOMKilled: boolean;
}

export class BotContainer {
  readonly name: string;
  readonly url: string;
  readonly #docker: Docker;

  private constructor(docker: Docker, name: string, url: string) {
    this.#docker = docker;
    this.name = name;
    this.url = url;
  }

  static async run(
    docker: Docker,
    name: string,
    { image, env, flags = [] }: ContainerOptions,
  ): Promise<BotContainer> {
    await docker.run("rm", "--force", "--volumes", name).catch(() => undefined);
    const port = await reservePort();
    const variables = Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
    const publish = ["--publish", `127.0.0.1:${port}:${env["PORT"] ?? 3000}`];
    await docker.run(
      ...["run", "--detach", "--name", name, ...publish, ...CONFINED, ...flags, ...variables],
      image,
    );
    return new BotContainer(docker, name, `http://127.0.0.1:${port}`);
  }

  /**
   * Waits until the bot is ready.
   *
   * @throws if the bot exits first or the timeout passes
   */
  async ready(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await isOk(`${this.url}/readyz`))) {
      if (!(await this.state()).Running || performance.now() > deadline) {
        throw new Error(`${this.name} is not ready:\n${await this.tail()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
    }
  }

  state(): Promise<State> {
    return this.#docker.inspect<State>(this.name, "json .State");
  }

  async tail(): Promise<string> {
    return (await this.#docker.logs(this.name)).slice(-30).join("\n");
  }

  /** Stops the container with `docker stop`. Resolves to its state and to how long this took, in ms. */
  async stop(): Promise<State & { readonly tookMs: number }> {
    const started = performance.now();
    await this.#docker.run("stop", this.name);
    const tookMs = performance.now() - started;
    return { ...(await this.state()), tookMs };
  }

  async remove(): Promise<void> {
    await this.#docker.run("rm", "--force", "--volumes", this.name).catch(() => undefined);
  }
}
