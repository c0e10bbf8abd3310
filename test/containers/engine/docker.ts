import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

const runFile = promisify(execFile);

/** In bytes. Higher than Node's default, because a container under load logs more than that. */
const MAX_OUTPUT = 256 * 1024 * 1024;

export class Docker {
  readonly env: Readonly<Record<string, string>>;

  /** @param host URL of the engine. Default: chosen by the `docker` command */
  constructor(host: string | undefined) {
    // Use the legacy builder, because Debian has no package for the BuildKit plugin.
    this.env = { DOCKER_BUILDKIT: "0", ...(host === undefined ? {} : { DOCKER_HOST: host }) };
  }

  /**
   * Runs a command. Resolves to its trimmed stdout.
   *
   * @throws with its stderr
   */
  async run(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, ...this.env };
    const { stdout } = await runFile("docker", args, { env, maxBuffer: MAX_OUTPUT });
    return stdout.trim();
  }

  /**
   * Runs a command synchronously.
   *
   * @throws with its stderr
   */
  runNow(...args: readonly string[]): string {
    const env = { ...process.env, ...this.env };
    return execFileSync("docker", args, { env, stdio: "pipe", encoding: "utf8" }).trim();
  }

  async logs(container: string): Promise<string[]> {
    const env = { ...process.env, ...this.env };
    const { stdout, stderr } = await runFile("docker", ["logs", container], {
      env,
      maxBuffer: MAX_OUTPUT,
    });
    return `${stdout}${stderr}`.split("\n");
  }

  /** Resolves to the engine's description of an image or a container, or to the part selected by `template`. */
  async inspect<T>(name: string, template = "json ."): Promise<T> {
    return JSON.parse(await this.run("inspect", "--format", `{{${template}}}`, name));
  }

  async succeeds(...args: readonly string[]): Promise<boolean> {
    return await this.run(...args).then(
      () => true,
      () => false,
    );
  }
}
