import { execFile, execFileSync } from "node:child_process";
import { promisify } from "node:util";

const runFile = promisify(execFile);

/** Maximum size of a command's output, in bytes. More than Node's default, because a container under load logs more. */
const MAX_OUTPUT = 256 * 1024 * 1024;

export class Docker {
  /** Environment variables that select the engine. */
  readonly env: Readonly<Record<string, string>>;

  /** @param host URL of the engine. Default: the command's own default */
  constructor(host: string | undefined) {
    // Uses the legacy builder, because Debian has no package for the BuildKit plugin.
    this.env = { DOCKER_BUILDKIT: "0", ...(host === undefined ? {} : { DOCKER_HOST: host }) };
  }

  /** Runs a command. Resolves to its trimmed stdout. @throws with its stderr */
  async run(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, ...this.env };
    const { stdout } = await runFile("docker", args, { env, maxBuffer: MAX_OUTPUT });
    return stdout.trim();
  }

  /** Runs a command synchronously. @throws with its stderr */
  runNow(...args: readonly string[]): string {
    const env = { ...process.env, ...this.env };
    return execFileSync("docker", args, { env, stdio: "pipe", encoding: "utf8" }).trim();
  }

  /** Resolves to the lines that a container wrote to stdout and stderr. */
  async logs(container: string): Promise<string[]> {
    const env = { ...process.env, ...this.env };
    const { stdout, stderr } = await runFile("docker", ["logs", container], {
      env,
      maxBuffer: MAX_OUTPUT,
    });
    return `${stdout}${stderr}`.split("\n");
  }

  /** Resolves to part of the engine's description of an image or a container. */
  async inspect<T>(name: string, template = "json ."): Promise<T> {
    return JSON.parse(await this.run("inspect", "--format", `{{${template}}}`, name));
  }

  /** Resolves to true if the command exits with 0. */
  async succeeds(...args: readonly string[]): Promise<boolean> {
    return await this.run(...args).then(
      () => true,
      () => false,
    );
  }
}
